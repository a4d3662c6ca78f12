import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventTypes } from './event-types.ts';

/** Removes the characters that depend on the formatter. */
const squashed = (text: string): string => text.replaceAll(/[\s|,]/g, '');

test.each(Object.entries(eventTypes()))(
  '%s matches the schema (npm run generate -- events)',
  (path, text) => {
    const written = readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8');
    expect(squashed(written)).toBe(squashed(text));
  },
);

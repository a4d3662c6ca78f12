import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { eventTypes } from './event-types.ts';

/** Without what the formatter decides. */
const squashed = (text: string): string => text.replaceAll(/[\s|,]/g, '');

test.each(Object.entries(eventTypes()))(
  '%s is what the schema says (npm run generate -- events)',
  (path, text) => {
    const written = readFileSync(new URL(`../../src/${path}`, import.meta.url), 'utf8');
    expect(squashed(written)).toBe(squashed(text));
  },
);

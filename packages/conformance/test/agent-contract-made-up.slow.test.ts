import { readFileSync } from 'node:fs';
import { afterAll, describe, expect, it } from 'vitest';
import { describeWays } from '../src/msw/index.ts';
import { lantern } from './subjects.ts';

describeWays(lantern, { describe, it, afterAll }, { print: console.log });

describe('a provider for a made-up service', () => {
  const lines = (file: string) =>
    readFileSync(new URL(`./made-up-wire/${file}`, import.meta.url), 'utf8')
      .trimEnd()
      .split('\n').length;

  it('takes less than 90 lines', () => {
    expect(lines('wire.ts')).toBeLessThan(90);
  });

  it('takes less than 150 lines together with its mock wire', () => {
    expect(lines('wire.ts') + lines('testing.ts')).toBeLessThan(150);
  });
});

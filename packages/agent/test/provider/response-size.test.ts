import { describe, expect, test } from 'vitest';
import { Assembly } from '../../src/provider/response/assembler.ts';
import { maxAnswerBytes } from '../../src/values/sizes.ts';

const tooLarge = { kind: 'limit', code: 'answer_too_large' };
/** Bytes of the block that contains the text. */
const blockBytes = 64;
const chunk = 'x'.repeat(1024 * 1024);

/** Starts a response whose text leaves room for so many bytes. */
function almostFull(left: number): Assembly {
  const assembly = new Assembly({ provider: 'plain' });
  assembly.text(0, 'x'.repeat(maxAnswerBytes - blockBytes - left));
  return assembly;
}

describe('a response of more than 64 MiB', () => {
  test('is an error: text [P29]', () => {
    const assembly = almostFull(0);
    expect(assembly.fault).toBeUndefined();
    assembly.text(0, 'x');
    expect(assembly.fault).toMatchObject(tooLarge);
  });

  test.each<[what: string, add: (assembly: Assembly, at: number) => void]>([
    ['empty blocks', (assembly, at) => assembly.text(at, '')],
    ['announced blocks', (assembly, at) => assembly.begin(at, 'text')],
    ['seals', (assembly, at) => assembly.seal(at, chunk)],
    ['names of calls', (assembly, at) => assembly.call(at, `${at}`, chunk)],
  ])('is an error: %s [P29]', (_what, add) => {
    const assembly = almostFull(2 * chunk.length);
    for (let at = 1; at < 100_000 && assembly.fault === undefined; at += 1) add(assembly, at);
    expect(assembly.fault).toMatchObject(tooLarge);
  });
});

import { expect, test } from 'vitest';
import { Assembly } from '../../src/provider/response/assembler.ts';

test('a response of more than 64 MiB is an error [P29]', () => {
  const assembly = new Assembly({ provider: 'plain' });
  const chunk = 'x'.repeat(1024 * 1024);
  for (let size = 0; size < 64; size += 1) assembly.text(0, chunk);
  expect(assembly.fault).toBeUndefined();
  assembly.text(0, 'x');
  expect(assembly.fault).toMatchObject({ kind: 'limit', code: 'answer_too_large' });
});

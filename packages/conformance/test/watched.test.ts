import { expect, test } from 'vitest';
import { watched } from '../src/agent/setup/setup.ts';

const never = new Promise<never>(() => {});

test('a case that makes no progress fails after its time', async () => {
  await expect(watched(never, { ms: 60 })).rejects.toThrow('expected the case to end within 60 ms');
});

test('a case that makes progress has its whole time again', async () => {
  let looks = 0;
  const ended = Promise.withResolvers<string>();
  const progress = () => {
    looks += 1;
    if (looks === 8) ended.resolve('ended');
    return looks;
  };
  await expect(watched(ended.promise, { ms: 60, progress })).resolves.toBe('ended');
});

test('a case that makes no more progress fails', async () => {
  let looks = 0;
  const progress = () => {
    looks += 1;
    return Math.min(looks, 8);
  };
  await expect(watched(never, { ms: 60, progress })).rejects.toThrow('expected the case to end');
  expect(looks).toBeGreaterThan(8);
});

import { expect, test } from 'vitest';
import { promptly } from '../src/agent/setup/setup.ts';

const never = new Promise<never>(() => {});

test('a case that makes no progress fails after its time', async () => {
  await expect(promptly(never, 60)).rejects.toThrow('expected the case to end within 60 ms');
});

test('a case that makes progress has its whole time again', async () => {
  let looks = 0;
  const ended = Promise.withResolvers<string>();
  const progress = () => {
    looks += 1;
    if (looks === 80) ended.resolve('ended');
    return looks;
  };
  await expect(promptly(ended.promise, 60, 'the case', progress)).resolves.toBe('ended');
});

test('a case that makes no more progress fails', async () => {
  let looks = 0;
  const progress = () => {
    looks += 1;
    return Math.min(looks, 80);
  };
  await expect(promptly(never, 60, 'the case', progress)).rejects.toThrow('expected the case to end');
  expect(looks).toBeGreaterThan(80);
});

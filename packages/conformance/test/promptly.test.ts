import { expect, test } from 'vitest';
import { promptly } from '../src/agent/setup/setup.ts';

const never = new Promise<never>(() => {});

test('fails a case that makes no progress within its time limit', async () => {
  await expect(promptly(never, 60)).rejects.toThrow('expected the case to end within 60 ms');
});

test('restarts the time limit of a case that makes progress', async () => {
  let looks = 0;
  const ended = Promise.withResolvers<string>();
  const progress = () => {
    looks += 1;
    if (looks === 80) ended.resolve('ended');
    return looks;
  };
  await expect(promptly(ended.promise, 60, 'the case', progress)).resolves.toBe('ended');
});

test('fails a case that stops making progress', async () => {
  let looks = 0;
  const progress = () => {
    looks += 1;
    return Math.min(looks, 80);
  };
  await expect(promptly(never, 60, 'the case', progress)).rejects.toThrow('expected the case to end');
  expect(looks).toBeGreaterThan(80);
});

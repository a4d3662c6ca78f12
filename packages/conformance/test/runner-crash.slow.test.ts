import { expect, test } from 'vitest';
import { drillRunnerCrashes } from './runner-crash-drill.ts';

test('resumes runs killed at any write, request or call without repeating logged work or a once tool [P13]', async () => {
  const { points, kills, repeated } = await drillRunnerCrashes();
  process.stdout.write(
    `runner: ${points} points, ${kills} processes killed, ${repeated} actions ran again\n`,
  );
  // The number of writes in a transaction depends on the machine.
  expect(points).toBeGreaterThan(100);
  expect(kills).toBeGreaterThan(95);
  // After a crash between a request and its record, the request must be repeated.
  expect(repeated).toBeGreaterThan(0);
}, 600_000);

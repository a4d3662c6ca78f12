import { expect, test } from 'vitest';
import { drillRunnerCrashes } from './runner-crash-drill.ts';

test('a run killed around its writes and steps, in sleeps and in waits is resumed: no recorded step runs again [P13]', async () => {
  const { points, kills, repeated } = await drillRunnerCrashes();
  process.stdout.write(`runner: ${points} points, ${kills} processes killed, ${repeated} steps ran again\n`);
  // The number of writes in a transaction depends on the machine.
  expect(points).toBeGreaterThan(40);
  expect(kills).toBeGreaterThan(36);
  // After a crash between the effect of a step and its record, the step must run again.
  expect(repeated).toBeGreaterThan(0);
}, 120_000);

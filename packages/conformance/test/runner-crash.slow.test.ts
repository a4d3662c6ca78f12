import { expect, test } from 'vitest';
import { drillRunnerCrashes } from './runner-crash-drill.ts';

test('killed around its writes and steps, asleep and waiting, a run is gone on with: no recorded step runs again [P13]', async () => {
  const { points, kills, repeated } = await drillRunnerCrashes();
  process.stdout.write(`runner: ${points} points, ${kills} processes killed, ${repeated} steps ran again\n`);
  // How many writes share a transaction depends on the machine.
  expect(points).toBeGreaterThan(40);
  expect(kills).toBeGreaterThan(36);
  // Between a step's effect and its record: there it has to.
  expect(repeated).toBeGreaterThan(0);
}, 120_000);

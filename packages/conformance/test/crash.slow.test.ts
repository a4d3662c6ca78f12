import { expect, test } from 'vitest';
import { drillCrashes } from './crash-drill.ts';

test('killed before and after every write, a run is gone on with: nothing committed is lost, no tool that must not runs twice [P9, P13]', async () => {
  const { points, kills, unknown } = await drillCrashes();
  process.stdout.write(`crash: ${points} points, ${kills} processes killed, ${unknown} outcomes unknown\n`);
  expect(kills).toBe(points);
  expect(points).toBeGreaterThan(50);
  // Between the start of a tool and its result: before the commit of either nothing can be known.
  expect(unknown).toBeGreaterThan(0);
}, 120_000);

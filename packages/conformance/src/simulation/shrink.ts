import type { Simulation, SimulationOptions } from './simulate.ts';
import { simulate } from './simulate.ts';

/** Maximum number of simulations to run. */
const maxTrials = 600;

/**
 * Removes choices from a failing simulation while the same promise is still broken: first many choices at the
 * same time, then fewer.
 *
 * @returns the smallest failing simulation found, or the given one if it does not fail.
 */
export async function shrinkSimulation(
  failing: Simulation,
  options: SimulationOptions = {},
): Promise<Simulation> {
  const rule = failing.violation?.rule;
  if (rule === undefined) return failing;
  let smallest = failing;
  let dropped = new Set(options.dropped);
  let trials = 0;
  for (let size = smallest.choices.length; size >= 1; size = Math.floor(size / 2)) {
    for (let at = 0; at < smallest.choices.length && trials < maxTrials; ) {
      const without = new Set([...dropped, ...smallest.choices.slice(at, at + size)]);
      const tried = await simulate(failing.seed, { ...options, dropped: without });
      trials += 1;
      const isSame = tried.violation?.rule === rule && tried.choices.length < smallest.choices.length;
      if (!isSame) at += size;
      else {
        smallest = tried;
        dropped = without;
      }
    }
  }
  return smallest;
}

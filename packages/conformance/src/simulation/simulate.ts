import { defined } from '@cobbler/agent/values';
import { Choices } from './scenario/choices.ts';
import type { Violation } from './scenario/world.ts';
import { Story } from './story.ts';
import { Tree } from './tree.ts';

export type { Violation } from './scenario/world.ts';

/** Options of a simulation. */
export interface SimulationOptions {
  /** Names of choices with the plain outcome, whatever the seed says. */
  readonly dropped?: ReadonlySet<string>;
  /**
   * Returns the rejections that were not handled since the last call, after all pending work. The simulation
   * cannot detect them itself, because each platform reports them differently.
   */
  readonly unhandled?: () => Promise<readonly unknown[]>;
  /** An additional check of the result. A returned violation counts if there is no other. */
  readonly check?: (simulation: Simulation) => Violation | undefined;
}

/** The result of a simulation. The same seed and options give the same result, byte for byte. */
export interface Simulation {
  readonly seed: number;
  /** The first broken promise; undefined if there is none. */
  readonly violation?: Violation;
  /** A trace of the simulation, one line per step, with the milliseconds since the start. */
  readonly trace: readonly string[];
  /** The stored logs of all sessions, one event per line. */
  readonly log: string;
  /** Names of the choices with an outcome that is not plain. */
  readonly choices: readonly string[];
  /** Names of the choices that were forced to be plain. With them the simulation can be repeated. */
  readonly dropped: readonly string[];
  /** The number of steps. */
  readonly steps: number;
}

/**
 * Runs the executor in a simulated world with random faults in the network, the store, the tools, the users,
 * the clock and the process itself. The seed determines everything. Nothing waits in real time, and nothing
 * outside is accessed. Never rejects because of a run.
 */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Simulation> {
  const dropped = options.dropped ?? new Set<string>();
  const choices = new Choices(seed, dropped);
  const scenario = choices.whether('tree', 0.1) ? new Tree(seed, choices) : new Story(seed, choices);
  const { world } = scenario;
  await scenario.run();
  const unhandled = (await options.unhandled?.()) ?? [];
  if (unhandled.length > 0) world.violate('P18 rejections', `unhandled rejection: ${String(unhandled[0])}`);
  const simulation: Simulation = {
    seed,
    ...defined({ violation: world.violation }),
    trace: world.trace,
    log: (await scenario.log()).join('\n'),
    choices: choices.made,
    dropped: [...dropped],
    steps: world.steps,
  };
  const violation = simulation.violation ?? options.check?.(simulation);
  return violation === undefined ? simulation : { ...simulation, violation };
}

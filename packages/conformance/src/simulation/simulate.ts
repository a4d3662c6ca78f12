import { defined } from '@cobbler/agent/values';
import { Choices } from './scenario/choices.ts';
import type { Violation } from './scenario/world.ts';
import { Story } from './story.ts';
import { Tree } from './tree.ts';

export type { Violation } from './scenario/world.ts';

/** What a simulation leaves out, and what else it looks at. */
export interface SimulationOptions {
  /** Names of choices that come out plain, whatever the seed says. */
  readonly dropped?: ReadonlySet<string>;
  /**
   * Gives what was rejected and never handled since it was asked last, once everything has come to rest. The
   * simulation itself cannot see it: each platform has a way of its own.
   */
  readonly unhandled?: () => Promise<readonly unknown[]>;
  /** A look of one's own at what came of it. What it returns counts as a broken promise unless one is already. */
  readonly check?: (simulation: Simulation) => Violation | undefined;
}

/** What came of one simulation. The same seed and options give the same, byte for byte. */
export interface Simulation {
  readonly seed: number;
  /** The first promise that was broken; absent when all were kept. */
  readonly violation?: Violation;
  /** What happened, one line each, with the milliseconds since the beginning. */
  readonly trace: readonly string[];
  /** The logs of all sessions as they stand in the store: one event a line. */
  readonly log: string;
  /** Names of the choices that did not come out plain. */
  readonly choices: readonly string[];
  /** Names of the choices that were made to come out plain: with them the simulation can be repeated. */
  readonly dropped: readonly string[];
  /** How many things happened. */
  readonly steps: number;
}

/**
 * Plays whole runs of the executor against a world in which anything may go wrong at any moment: the network,
 * the store, the tools, the people, the clock and the process itself. All of it follows from the seed; nothing
 * waits and nothing outside is touched. Never rejects for what a run does.
 */
export async function simulate(seed: number, options: SimulationOptions = {}): Promise<Simulation> {
  const dropped = options.dropped ?? new Set<string>();
  const choices = new Choices(seed, dropped);
  const play = choices.whether('tree', 0.1) ? new Tree(seed, choices) : new Story(seed, choices);
  const { world } = play;
  await play.play();
  const unhandled = (await options.unhandled?.()) ?? [];
  if (unhandled.length > 0) world.violate('P18 rejections', `nobody handled ${String(unhandled[0])}`);
  const simulation: Simulation = {
    seed,
    ...defined({ violation: world.violation }),
    trace: world.trace,
    log: (await play.log()).join('\n'),
    choices: choices.made,
    dropped: [...dropped],
    steps: world.steps,
  };
  const violation = simulation.violation ?? options.check?.(simulation);
  return violation === undefined ? simulation : { ...simulation, violation };
}

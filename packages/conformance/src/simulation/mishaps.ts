import type { LifeContext } from './life.ts';
import type { Site } from './scenario/program.ts';
import type { SimulatedRun } from './scenario/record.ts';

type Mishap =
  | 'cancel'
  | 'abort'
  | 'deadline'
  | 'steer'
  | 'kill'
  | 'power fails'
  | 'take over'
  | 'clock jumps'
  | 'reader comes'
  | 'watcher throws';

const mishaps: readonly (readonly [number, Mishap])[] = [
  [5, 'steer'],
  [4, 'cancel'],
  [2, 'abort'],
  [1, 'deadline'],
  [6, 'kill'],
  [2, 'take over'],
  [1, 'clock jumps'],
  [3, 'reader comes'],
  [1, 'watcher throws'],
  [2, 'power fails'],
];

/** The sites of external events, and the maximum number of the crossing. */
const places: readonly (readonly [number, readonly [site: Site, max: number]])[] = [
  [4, ['store', 12]],
  [4, ['stored', 12]],
  [3, ['event', 25]],
  [4, ['shown', 12]],
  [2, ['chunk', 12]],
  [2, ['tool', 4]],
  [2, ['tool done', 3]],
  [1, ['head', 4]],
  [1, ['request', 4]],
  [1, ['gate', 4]],
  [1, ['timer', 5]],
  [1, ['summary', 2]],
  [2, ['shape', 2]],
  [1, ['blob', 3]],
];

/** Events outside the process of a run. */
export interface OtherProcesses {
  /** Another process resumes the session. */
  takeOver(): void;
  /** All processes end, and the store loses what was not durable. */
  powerFails(): void;
}

/** Decides which external events interrupt a run, and at which moments. */
export function planImpulses(
  record: SimulatedRun,
  abort: AbortController,
  around: LifeContext,
  others: OtherProcesses,
): void {
  const { choices } = around.world;
  const acts = actsOn(record, abort, around, others);
  for (let count = choices.pick('mishaps', [0, 1, 1, 2, 3]); count > 0; count -= 1) {
    const what = choices.among('mishap', mishaps);
    const [site, max] = choices.among('place', places);
    const nth = choices.between('crossing', 1, max);
    const inMidst = (site === 'event' || site === 'shown') && choices.whether('in the midst', 0.5);
    const ticks = inMidst ? 0 : choices.between('ticks', 1, choices.pick('how soon', [3, 12, 40]));
    record.program.arrange({ site, nth, ticks, what: `${what} (${site} ${nth}, ${ticks})`, act: acts[what] });
  }
}

function actsOn(
  record: SimulatedRun,
  abort: AbortController,
  { world, people, readers }: LifeContext,
  others: OtherProcesses,
): Record<Mishap, () => void> {
  const running = (act: () => void) => () => {
    if (record.result === undefined) act();
  };
  return {
    cancel: running(() => people.cancel(record)),
    abort: running(() => people.abort(record, abort, 'signal')),
    deadline: running(() => people.abort(record, abort, 'deadline')),
    steer: running(() => people.steer(record)),
    kill: running(() => record.program.kill()),
    'power fails': running(() => others.powerFails()),
    'take over': running(() => others.takeOver()),
    'clock jumps': () => world.jump(world.choices.pick('jump', [3_600_000, -3_600_000, 86_400_000 * 400])),
    'reader comes': () => readers.join(record, `${record.name}'s late reader`),
    'watcher throws': () => {
      record.run.subscribe(() => {
        throw new Error('the listener failed');
      });
    },
  };
}

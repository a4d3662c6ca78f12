import type { Event } from '@cobbler/agent';
import type { Watcher } from './watcher.ts';

/** Number of prompts by outcome: accepted, or the code of the rejection. */
export type Prompts = Map<string, number>;

/** The results of one store. */
export interface Leg {
  readonly name: string;
  /** The log of each session in the store. */
  readonly logs: ReadonlyMap<string, readonly Event[]>;
  readonly watchers: readonly Watcher[];
  readonly prompts: Prompts;
  /** Number of reader connections that were cut, and of processes that were killed. */
  readonly cuts: number;
  readonly kills: number;
  readonly seconds: number;
  /** The standard error output of the servers since their last start. */
  readonly notes: string;
}

/** Maximum number of problems to print per store. */
const maxShown = 20;

type Row = readonly [label: string, value: (leg: Leg) => number | string];

/** Counts of wrong deliveries, all of which must be 0. */
const wrong: readonly Row[] = [
  ['duplicates', (leg) => sum(leg, (seen) => seen.length - new Set(seen.map(({ id }) => id)).size)],
  ['gaps', (leg) => sum(leg, (seen, log) => log.length - new Set(seen.map(({ id }) => id)).size)],
  [
    'out of order',
    (leg) => sum(leg, (seen) => seen.filter(({ id }, at) => id <= (seen[at - 1]?.id ?? 0)).length),
  ],
  [
    'changed events',
    (leg) =>
      sum(leg, (seen, log) => seen.filter(({ id, text }) => text !== JSON.stringify(log[id - 1])).length),
  ],
  ['other faults of streams', ({ watchers }) => watchers.flatMap(({ seen }) => seen.odd).length],
  [
    'logs with a gap',
    ({ logs }) => [...logs.values()].filter((log) => log.some(({ seq }, at) => seq !== at + 1)).length,
  ],
  [
    'prompts that started two runs',
    ({ logs }) => [...logs.values()].reduce((all, log) => all + repeated(log), 0),
  ],
];

const counts: readonly Row[] = [
  ['sessions', ({ logs }) => logs.size],
  ['events in the logs', ({ logs }) => [...logs.values()].reduce((all, log) => all + log.length, 0)],
  ['runs resumed', ({ logs }) => [...logs.values()].flat().filter(({ type }) => type === 'resumed').length],
  ['prompts accepted', ({ prompts }) => prompts.get('accepted') ?? 0],
  [
    'prompts refused: busy, in use',
    ({ prompts }) => `${prompts.get('busy') ?? 0}, ${prompts.get('in_use') ?? 0}`,
  ],
  ['prompts with another response', ({ prompts }) => others(prompts)],
  ['connections cut', ({ cuts }) => cuts],
  ['processes killed (kill -9)', ({ kills }) => kills],
  ['readers', ({ watchers }) => watchers.length],
  [
    'connections they made',
    ({ watchers }) => watchers.reduce((all, { seen }) => all + seen.moves.length + 1, 0),
  ],
  ['stored events they saw', (leg) => sum(leg, (seen) => seen.length)],
  ['ends that are not stored', ({ watchers }) => watchers.flatMap(({ seen }) => seen.unstored).length],
];

/** Prints the counts of each store. Returns true if each reader saw each stored event once, in order, unchanged. */
export function reportLegs(legs: readonly Leg[], tell: (line: string) => void): boolean {
  const line = (label: string, cells: readonly (number | string)[]) =>
    tell(`${label.padEnd(32)}${cells.map((cell) => String(cell).padStart(14)).join('')}`);
  line(
    '',
    legs.map(({ name }) => name),
  );
  for (const [label, value] of [...counts, ...wrong]) line(label, legs.map(value));
  line(
    'seconds',
    legs.map(({ seconds }) => seconds.toFixed(0)),
  );
  tell('');
  const isFaulty = (leg: Leg) => wrong.some(([, value]) => value(leg) !== 0) || leg.watchers.length === 0;
  for (const leg of legs.filter(isFaulty)) {
    for (const problem of problems(leg).slice(0, maxShown)) tell(`FAILED ${leg.name}: ${problem}`);
    if (leg.notes !== '') tell(`The servers wrote:\n${leg.notes}`);
  }
  const holds = legs.length > 0 && !legs.some(isFaulty);
  tell(holds ? 'Each reader saw each stored event once, in order, unchanged.' : 'A reader did not.');
  return holds;
}

function problems({ logs, watchers }: Leg): string[] {
  return watchers.flatMap(({ sessionId, seen }) => {
    const log = logs.get(sessionId) ?? [];
    const at = seen.events.findIndex(
      ({ id, text }, place) => id !== place + 1 || text !== JSON.stringify(log[place]),
    );
    const shown = seen.events[at];
    const first =
      shown === undefined
        ? seen.events.length < log.length && `saw ${seen.events.length} of ${log.length} events`
        : `event ${shown.id} came as number ${at + 1}: ${shown.text.slice(0, 160)}`;
    return [...(first === false ? [] : [first]), ...seen.odd].map(
      (what) => `a reader of ${sessionId}: ${what}`,
    );
  });
}

/** Returns the number of repeated prompts with the same key, which is the id of their run. */
function repeated(log: readonly Event[]): number {
  const said = log.flatMap((event) => (event.type === 'user' && event.steer !== true ? [event.runId] : []));
  return said.length - new Set(said).size;
}

function others(prompts: Prompts): string {
  const known = new Set(['accepted', 'busy', 'in_use']);
  const rest = [...prompts].filter(([status]) => !known.has(status));
  return rest.length === 0 ? '0' : rest.map(([status, count]) => `${count} ${status}`).join(', ');
}

function sum(
  { logs, watchers }: Leg,
  pick: (seen: Watcher['seen']['events'], log: readonly Event[]) => number,
): number {
  return watchers.reduce((all, { sessionId, seen }) => all + pick(seen.events, logs.get(sessionId) ?? []), 0);
}

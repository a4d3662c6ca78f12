import { turns } from './model.ts';
import type { SessionFindings } from './verdict.ts';
import { problems, unknownOutcomes } from './verdict.ts';

/** The results of the whole test, apart from those of each session. */
export interface Course {
  readonly seconds: string;
  /** Number of requests that the model received. */
  readonly requests: number;
  /** Problems of requests that no provider should send. */
  readonly complaints: readonly string[];
  /** Number of connections of the engine to A and to B. */
  readonly connections: readonly number[];
  /** The standard error output of the surviving process. */
  readonly logOfB: string;
}

/** Maximum number of problems to print. */
const maxShown = 30;

/** Prints the counts and the problems. Returns true if there are no problems. */
export function report(
  findings: readonly SessionFindings[],
  tell: (line: string) => void,
  course: Course,
): boolean {
  const rows = [...sessionRows(findings), ...bookingRows(findings), ...watcherRows(findings)];
  const answers = `${course.requests}, ${findings.length * (turns + 1)}`;
  rows.push(
    ['requests to the model, answers that were needed', answers],
    ['connections of the engine to A, to B', course.connections.join(', ')],
    ['seconds from the first prompt to the last end', course.seconds],
  );
  const width = Math.max(...rows.map(([label]) => label.length));
  tell('');
  for (const [label, value] of rows) tell(`${label.padEnd(width)}  ${String(value).padStart(8)}`);
  tell('');
  const all = [
    ...findings.flatMap(problems),
    ...course.complaints.map((complaint) => `the model was sent ${complaint}`),
    ...findings
      .flatMap(({ watchers }) => watchers.filter((_, index) => index === 0))
      .filter(({ moves }) => moves.length === 0)
      .map(() => 'a watcher at A did not continue at B'),
  ];
  for (const problem of all.slice(0, maxShown)) tell(`FAILED ${problem}`);
  if (all.length > 0 && course.logOfB !== '') tell(`B wrote:\n${course.logOfB}`);
  tell(all.length === 0 ? 'The proof holds.' : `${all.length} things do not hold.`);
  return all.length === 0;
}

type Row = [label: string, value: string | number];

function sessionRows(findings: readonly SessionFindings[]): Row[] {
  const complete = findings.filter(({ events }) => {
    const last = events.at(-1);
    return last?.type === 'finished' && last.status === 'complete';
  });
  return [
    ['sessions', findings.length],
    ['ended complete', complete.length],
    ['events in the log', sum(findings, ({ events }) => events.length)],
    ['resumed in the middle of an action', sum(findings, (one) => countOf(one, 'resumed'))],
  ];
}

function bookingRows(findings: readonly SessionFindings[]): Row[] {
  const all = findings.flatMap(({ bookings }) => bookings);
  const by = (name: string) => all.filter((one) => one.by === name).length;
  const different = new Set(all.map(({ sessionId, place }) => `${sessionId} ${place}`));
  return [
    ['bookings (an MCP tool with effect once)', all.length],
    ['  by the tool server of A, of B', `${by('A')}, ${by('B')}`],
    ['  that ran twice', all.length - different.size],
    ['  cut by the kill, outcome unknown', sum(findings, ({ events }) => unknownOutcomes(events))],
  ];
}

function watcherRows(findings: readonly SessionFindings[]): Row[] {
  const seen = findings.flatMap(({ watchers }) => watchers);
  const isOdd = ({ events }: (typeof seen)[number]) => events.some(({ id }, index) => id !== index + 1);
  return [
    ['watchers', seen.length],
    ['  that continued at the other process', seen.filter(({ moves }) => moves.length > 0).length],
    ['  events they saw', sum(seen, ({ events }) => events.length)],
    ['  that missed one or saw one twice', seen.filter(isOdd).length],
  ];
}

function countOf({ events }: SessionFindings, type: string): number {
  return events.filter((event) => event.type === type).length;
}

function sum<Item>(items: readonly Item[], pick: (item: Item) => number): number {
  return items.reduce((total, item) => total + pick(item), 0);
}

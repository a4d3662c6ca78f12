import type { Event } from '@cobbler/agent';
import type { Booking } from './bookings.ts';
import { bookingId, turns } from './model.ts';
import type { Seen } from './watcher.ts';

/** The results of one session. */
export interface SessionFindings {
  readonly sessionId: string;
  readonly runId: string;
  /** The log in the database. */
  readonly events: readonly Event[];
  /** Every run of the tool. */
  readonly bookings: readonly Booking[];
  readonly watchers: readonly Seen[];
}

/** Returns the problems as text; empty if there are none. */
export function problems(findings: SessionFindings): string[] {
  const found = [...logProblems(findings), ...toolProblems(findings), ...watcherProblems(findings)];
  return found.map((problem) => `${findings.sessionId}: ${problem}`);
}

function logProblems({ events, runId }: SessionFindings): string[] {
  const last = events.at(-1);
  const answers = countOf(events, 'assistant');
  return failing([
    [last?.type === 'finished' && last.status === 'complete', `ended as ${statusOf(last)}`],
    [events.every(({ seq }, index) => seq === index + 1), 'its event numbers have a gap or a duplicate'],
    [new Set(events.map(({ id }) => id)).size === events.length, 'two events have one id'],
    [events.every((event) => event.runId === runId), 'the log has events of another run'],
    [answers === turns + 1, `${answers} responses instead of ${turns + 1}`],
    [countOf(events, 'user') === 1, 'the log does not contain the prompt exactly once'],
    [countOf(events, 'finished') === 1, 'the log does not contain the end exactly once'],
  ]);
}

/** A call with a result of the tool must have run once; one with an unknown outcome, at most once. */
function toolProblems({ events, bookings }: SessionFindings): string[] {
  const results = events.filter((event) => event.type === 'tool_result');
  return Array.from({ length: turns }, (_, turn) => {
    const runs = bookings.filter(({ place }) => place === turn).length;
    const answered = results.filter(({ callId }) => callId === bookingId(turn));
    const isUnknown = answered.some(isCut);
    return failing([
      [runs <= 1, `the booking of turn ${turn} ran ${runs} times`],
      [answered.length === 1, `the booking of turn ${turn} has ${answered.length} results`],
      [runs > 0 || isUnknown, `the booking of turn ${turn} has a result but never ran`],
      [answered.every((one) => !one.isError || isCut(one)), `the booking of turn ${turn} failed`],
    ]);
  })
    .flat()
    .concat(
      failing(
        results
          .filter(({ toolName }) => toolName !== 'mcp__bookings__book')
          .map((result) => [!result.isError, `${result.toolName} failed: ${JSON.stringify(result.content)}`]),
      ),
    );
}

function watcherProblems({ events, watchers }: SessionFindings): string[] {
  const log = events.map((event) => JSON.stringify(event));
  return watchers.flatMap(({ events: shown, odd }) => [
    ...odd.map((what) => `a watcher: ${what}`),
    ...failing([
      [shown.length === log.length, `a watcher saw ${shown.length} of ${log.length} events`],
      [shown.every(({ id }, index) => id === index + 1), 'a watcher missed an event or saw one twice'],
      [
        shown.every(({ text }, index) => text === log[index]),
        'a watcher saw an event that differs from the log',
      ],
    ]),
  ]);
}

/** Returns the number of calls interrupted by a crash: they do not run again, and their outcome is unknown. */
export function unknownOutcomes(events: readonly Event[]): number {
  return events.filter(isCut).length;
}

function isCut(event: Event): boolean {
  return event.type === 'tool_result' && event.isError && /outcome/.test(JSON.stringify(event.content));
}

function failing(checks: readonly (readonly [holds: boolean, what: string])[]): string[] {
  return checks.flatMap(([holds, what]) => (holds ? [] : [what]));
}

function countOf(events: readonly Event[], type: Event['type']): number {
  return events.filter((event) => event.type === type).length;
}

function statusOf(event: Event | undefined): string {
  return event?.type === 'finished' ? `${event.status} ${event.error?.message ?? ''}` : String(event?.type);
}

import type { Event } from '../events/event.ts';
import type { LogIssue } from '../events/repair-log.ts';
import { repairLog, unfinished } from '../events/repair-log.ts';
import { AgentError } from '../values/errors.ts';
import { read, text } from '../values/input.ts';
import { readEvents, readStore } from './open-session.ts';
import type { Store } from './store.ts';
import { checkSessionId } from './store.ts';

/** Number of events in memory at a time during an export. */
const pageLength = 500;

/**
 * Yields a session as lines of JSON, one event each: the format that `--json` prints and `cobbler doctor` reads. Every
 * line ends with a newline.
 * @throws AgentError `invalid`, code `no_session`.
 */
export async function* exportSession(
  store: Store,
  sessionId: string,
): AsyncGenerator<string, void, undefined> {
  const from = read(store, readStore, 'store');
  const id = read(sessionId, text, 'sessionId');
  let seq = 0;
  for (;;) {
    const events = await readEvents(from, id, seq, pageLength);
    const last = events.at(-1);
    if (last === undefined) break;
    for (const event of events) yield `${JSON.stringify(event)}\n`;
    seq = last.seq;
  }
  if (seq > 0) return;
  const message = `There is no session ${JSON.stringify(id)} in the store.`;
  throw new AgentError({ kind: 'invalid', code: 'no_session', message });
}

/**
 * Imports an exported session into a store, all or nothing, under an id that does not exist there. Every line is
 * checked against the event format, and the fold checks all lines together. A log that ends in the middle of a run is
 * accepted: the run can be resumed.
 * @throws AgentError `invalid`, code `damaged_log` with the number of the first bad line, `no_events`,
 * `session_exists`, `session_id`.
 */
export async function importSession(
  store: Store,
  lines: Iterable<string> | AsyncIterable<string>,
  sessionId: string,
): Promise<{ readonly events: number }> {
  const target = read(store, readStore, 'store');
  checkSessionId(sessionId);
  const events = await readLog(lines);
  if ((await readEvents(target, sessionId, 0, 1)).length > 0) throw exists(sessionId);
  const epoch = await target.claim(sessionId);
  const moved = events.map((event) => ({ ...event, id: `${sessionId}-${event.seq}` }));
  await target.append(sessionId, moved, { epoch, durable: true, release: true });
  return { events: moved.length };
}

/** Parses the lines of a log and checks that they form one session. */
async function readLog(lines: Iterable<string> | AsyncIterable<string>): Promise<readonly Event[]> {
  const values: unknown[] = [];
  const numbers: number[] = [];
  let number = 0;
  try {
    for await (const line of lines) {
      number += 1;
      if (read(line, text, `lines[${number - 1}]`).trim() === '') continue;
      values.push(parseLine(line, number));
      numbers.push(number);
    }
  } catch (thrown) {
    const { message } = AgentError.from(thrown);
    if (AgentError.is(thrown)) throw thrown;
    throw new AgentError({
      kind: 'invalid',
      code: 'bad_option',
      message: `The lines could not be read: ${message}`,
    });
  }
  const { events, problems } = repairLog(values);
  const [first, ...rest] = problems.filter(({ what }) => what !== unfinished);
  if (first !== undefined) throw damagedError(first, numbers[first.at] ?? 0, rest.length);
  if (events.length > 0) return problems.length > 0 ? events.slice(0, -1) : events;
  const message = 'The input contains no events.';
  throw new AgentError({ kind: 'invalid', code: 'no_events', message });
}

function parseLine(line: string, number: number): unknown {
  try {
    return JSON.parse(line);
  } catch {
    throw damagedError({ at: 0, what: 'is not JSON: it may be cut off' }, number, 0);
  }
}

function damagedError({ what }: LogIssue, line: number, others: number): AgentError {
  const more =
    others === 0 ? '' : ` There ${others === 1 ? 'is 1 more problem' : `are ${others} more problems`}.`;
  const message = `Line ${line} ${what}.${more} Nothing was imported. To write a repaired log, run: cobbler doctor FILE --fix.`;
  return new AgentError({ kind: 'invalid', code: 'damaged_log', message });
}

function exists(sessionId: string): AgentError {
  const message = `Session ${JSON.stringify(sessionId)} already exists. Import it under another id.`;
  return new AgentError({ kind: 'invalid', code: 'session_exists', message });
}

import type { Event, RunEnd, RunEvent, RunStatus } from '../events/event.ts';
import { isStored } from '../events/event.ts';
import { fold } from '../events/fold.ts';
import { spendingOf } from '../events/spending.ts';
import { emptyState } from '../events/state.ts';
import type { Run, RunResult } from '../run/run.ts';
import type { Store } from '../store/store.ts';
import { addUsage, noUsage } from '../values/usage.ts';
import { expect, expectEqual } from './assertion.ts';
import { assertValidHistory } from './valid-history.ts';

/** A run, the events its listener received, and the events its reader received. */
export interface Watched {
  readonly run: Run;
  readonly events: readonly RunEvent[];
  readonly read: Promise<readonly RunEvent[]>;
}

/** Statuses that require an error (promise 1). */
const withError: ReadonlySet<RunStatus> = new Set<RunStatus>(['limit', 'timeout', 'cancelled', 'failed']);

/**
 * Checks the invariants of every run: one status, one typed error or none, a valid history, a gapless log, correct
 * counts.
 */
export async function checkRun({ run, events, read }: Watched, store: Store): Promise<void> {
  const result = await run.result;
  assertValidHistory(result.messages);
  expectEqual(
    result.error !== undefined,
    withError.has(result.status),
    `an error with status ${result.status}`,
  );
  expectEqual(await read, events, 'the events of the reader, compared with those of the listener');
  const stored = await store.read(run.sessionId);
  const own = stored.filter((event) => event.runId === run.id);
  const isWhole = own.at(-1)?.type === 'finished';
  checkOrder(events, result);
  checkShown(events.filter(isStored), stored);
  checkLog(stored, run.sessionId);
  if (!isWhole) return;
  checkStoredMessages(stored, run, result);
  checkCounts(own, result);
}

function checkOrder(events: readonly RunEvent[], result: RunResult): void {
  expectEqual(events[0]?.type, 'started', 'the first event');
  const finished = events.filter((event): event is RunEnd => event.type === 'finished');
  expectEqual(finished.length, 1, 'the number of finished events');
  expectEqual(events.at(-1)?.type, 'finished', 'the last event');
  expectEqual(finished[0]?.status, result.status, 'the status of the finished event');
  expectEqual(finished[0]?.limit, result.limit, 'the limit of the finished event');
  expectEqual(finished[0]?.error, result.error?.toJSON(), 'the error of the finished event');
}

/** Events with a sequence number must be in the store, without gaps. */
function checkShown(shown: readonly Event[], stored: readonly Event[]): void {
  const first = (shown[0]?.seq ?? 1) - 1;
  expectEqual(shown, stored.slice(first, first + shown.length), 'the stored events that were shown');
}

function checkLog(stored: readonly Event[], sessionId: string): void {
  for (const [index, event] of stored.entries()) {
    expectEqual(
      [event.v, event.seq, event.id],
      [1, index + 1, `${sessionId}-${index + 1}`],
      `the head of event ${index}`,
    );
    expect(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d.\d{3}Z$/.test(event.time), 'a valid time');
  }
}

/** The messages of the folded log must equal those of the result. */
function checkStoredMessages(stored: readonly Event[], run: Run, result: RunResult): void {
  const state = emptyState();
  for (const event of stored) {
    fold(state, event);
    if (event.type === 'finished' && event.runId === run.id) break;
  }
  if (result.status !== 'waiting') expectEqual(result.messages, state.messages, 'the messages of the result');
}

/** Promise 14: every response is counted once, and failed attempts are counted separately. */
function checkCounts(own: readonly Event[], result: RunResult): void {
  const { metrics } = result;
  const resumed = own.some((event) => event.type === 'resumed');
  if (resumed) return;
  let used = noUsage;
  let wasted = noUsage;
  let answers = 0;
  for (const event of own) {
    const spent = spendingOf(event);
    if (spent === undefined) continue;
    answers += spent.answers ?? 1;
    used = addUsage(used, spent.usage);
    wasted = addUsage(wasted, spent.wasted);
  }
  const started = own.filter((event) => event.type === 'tool_started').length;
  expectEqual(metrics.invocations, answers, 'the invocations');
  expectEqual(metrics.totalInputTokens, used.inputTokens, 'the input tokens');
  expectEqual(metrics.totalOutputTokens, used.outputTokens, 'the output tokens');
  expectEqual(metrics.wasted, wasted, 'the wasted tokens');
  expectEqual(metrics.toolCalls, started, 'the tool calls');
  expectEqual(result.messages.length > 0, true, 'a conversation');
}

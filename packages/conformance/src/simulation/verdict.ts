import type { Event, Message, RunResult, RunStatus } from '@cobbler/agent';
import { AgentError, callsOf, defaultLimits, isStored } from '@cobbler/agent';
import type { RunEnd, State } from '@cobbler/agent/events';
import { emptyState, fold } from '@cobbler/agent/events';
import { assertValidHistory, maxOutputBytes } from '@cobbler/agent/testing';
import { isErrorKind } from '@cobbler/agent/values';
import { checkAccount, checkResponses } from './account.ts';
import { slackMs } from './auditor.ts';
import { checkCircles } from './circles.ts';
import type { Trouble } from './environment/disk.ts';
import type { LifeContext } from './life.ts';
import type { SimulatedRun } from './scenario/record.ts';
import { chainOf, marksIn } from './scenario/record.ts';
import { readingTool, repeatable } from './scenario/repeatable-tools.ts';
import type { World } from './scenario/world.ts';

/** A run that has ended. */
interface Over {
  readonly record: SimulatedRun;
  readonly result: RunResult;
  readonly events: readonly Event[];
  /** The ids of the runs that this one continues. */
  readonly chain: readonly string[];
  readonly trouble: Trouble;
  readonly around: LifeContext;
}

/** Checks all promises about a run after its end. */
export function judge(record: SimulatedRun, around: LifeContext): void {
  const { result } = record;
  if (result === undefined) return;
  const { disk, world, service } = around;
  const events = disk.events(record.sessionId);
  const chain = chainOf(events, record);
  const over: Over = { record, result, events, chain, trouble: disk.trouble(record.program), around };
  const expect: World['expect'] = (condition, rule, message) => world.expect(condition, rule, message);
  checkEnd(over, expect);
  checkBlame(over, expect);
  if (record.hasty !== true) checkShownEnd(over, expect);
  checkStop(over, expect);
  checkTime(over, expect);
  checkHistory(over, expect);
  checkNothingLost(over, expect);
  checkLog(over, expect);
  checkLimits(over, expect);
  const { repeats: maxRepeats = defaultLimits.repeats } = around.setting.limits;
  checkCircles(events, { maxRepeats, from: disk.repaired(record.sessionId) }, expect);
  checkBlobs(over, expect);
  checkAccount(record, around);
  checkResponses(events, service, world);
}

type Expect = World['expect'];

const kindOfStatus: Partial<Record<RunStatus, string>> = {
  cancelled: 'aborted',
  timeout: 'timeout',
  limit: 'limit',
};
const withoutError: ReadonlySet<RunStatus> = new Set(['complete', 'max_tokens', 'refusal', 'waiting']);

/** P1: a run emits exactly one end, which matches its result. */
function checkShownEnd({ record, result }: Over, expect: Expect): void {
  const { status } = result;
  const ends = record.events.filter((event): event is RunEnd => event.type === 'finished');
  expect(
    ends.length === 1 && record.events.at(-1) === ends[0],
    'P1 one end',
    `${ends.length} ends were emitted`,
  );
  expect(
    ends[0]?.status === status,
    'P1 one status',
    `the emitted status is ${ends[0]?.status}, the result has ${status}`,
  );
}

/** P1: a run has exactly one status, and at most one typed error. */
function checkEnd({ result }: Over, expect: Expect): void {
  const { status, error } = result;
  const isTyped = error === undefined || (AgentError.is(error) && isErrorKind(error.kind));
  expect(isTyped, 'P1 error', `the error is not an AgentError: ${String(error)}`);
  expect(
    (error === undefined) === withoutError.has(status),
    'P1 error',
    `${status} with the error ${error?.message}`,
  );
  const kind = kindOfStatus[status];
  expect(
    kind === undefined || error?.kind === kind,
    'P1 error kind',
    `${status} with an error of kind ${error?.kind}`,
  );
  expect(
    (status === 'limit') === (result.limit !== undefined),
    'P4 limit',
    `${status} with the limit ${result.limit}`,
  );
  expect(error?.code !== 'stuck', 'P2 progress', error?.message ?? '');
}

/** P4: a store error is only reported if the store failed, or was slow after a stop or timeout. */
function checkBlame({ record, result, trouble, around }: Over, expect: Expect): void {
  if (result.error?.code !== 'store') return;
  const isLate = ownTime(record) >= around.setting.limits.ms;
  const isToBlame = trouble.failed || isLate || record.pressedAt !== undefined;
  expect(isToBlame, 'P4 store', 'a store error was reported, but the store did not fail');
}

/** P4: an accepted stop takes precedence, and a run stops only on request or at its time limit. */
function checkStop({ record, result, events, chain, trouble, around }: Over, expect: Expect): void {
  const { status } = result;
  const wasStopped = record.stops.length > 0;
  const isStopped = status === 'cancelled' || status === 'timeout';
  // A run of a session without events fails before anything is stored, so a signal may come too late.
  const wasUnknown = result.error?.code === 'no_session' && record.stops.every(({ by }) => by !== 'cancel');
  expect(
    !wasStopped || isStopped || wasUnknown || (status === 'failed' && (trouble.failed || trouble.fenced)),
    'P4 stop beats success',
    `the run was stopped but ended as ${status}`,
  );
  const earlier = events.filter((event) => event.type === 'stop_requested' && chain.includes(event.runId));
  const mayStop = wasStopped || earlier.length > 0;
  if (status === 'cancelled') expect(mayStop, 'P4 cancelled', 'the run ended as cancelled without a cancel');
  if (status !== 'timeout') return;
  const ran = ownTime(record);
  const isLate = ran >= around.setting.limits.ms;
  expect(mayStop || isLate, 'P4 timeout', `the run timed out after ${ran} ms of its own time`);
}

/** P2 and P3: a run ends within its time limit, and soon after it was stopped. */
function checkTime({ record, around }: Over, expect: Expect): void {
  const endedAt = record.endedAt ?? 0;
  const ran = ownTime(record);
  expect(ran <= around.setting.limits.ms + slackMs, 'P2 time', `the run took ${ran} ms of its own time`);
  if (record.pressedAt === undefined) return;
  const took = endedAt - record.pressedAt;
  expect(took <= slackMs, 'P3 stop in time', `the run ended ${took} ms after it was stopped`);
}

/** P12: the history is valid, and every result belongs to its call. */
function checkHistory({ result, around }: Over, expect: Expect): void {
  const { messages } = result;
  try {
    if (messages.length > 0) assertValidHistory(messages);
  } catch (error) {
    expect(false, 'P12 history', String(error));
  }
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    for (const [index, call] of callsOf(message).entries())
      checkResult(messages[at + 1 + index], call, { limit: maxBytes(call, around), expect });
  }
}

/** P10: the maximum size of a result, which is smaller if output is offloaded. */
function maxBytes({ toolName }: { readonly toolName: string }, { setting }: LifeContext): number {
  return toolName === readingTool ? maxOutputBytes : (setting.offloadAbove ?? maxOutputBytes);
}

/** P10: no offloaded output is lost or mixed up. */
function checkBlobs({ record, result, events, around }: Over, expect: Expect): void {
  const own = events.filter(({ runId }) => runId === record.run.id);
  around.cellar.checkExcerpts(own, expect);
  around.cellar.checkReading(result.messages, expect);
}

function checkResult(
  result: Message | undefined,
  call: ReturnType<typeof callsOf>[number],
  { limit, expect }: { readonly limit: number; readonly expect: Expect },
): void {
  const text = JSON.stringify(result?.content ?? '');
  expect(
    text.length < limit + 1_000,
    'P10 size',
    `the result of call ${call.arguments['n']} has ${text.length} bytes`,
  );
  if (call.toolName === readingTool) return;
  const marks = marksIn(result?.content ?? '');
  const own = `[[result ${call.arguments['n']}]]`;
  expect(
    marks.every((found) => found === own),
    'P9 own result',
    `call ${call.arguments['n']} has the result ${marks.join()}`,
  );
}

/** Every accepted message and every tool result is in the history exactly once. */
function checkNothingLost({ record, result }: Over, expect: Expect): void {
  const { messages, status } = result;
  const marks = marksIn(messages);
  for (const text of record.accepted) {
    const count = marks.filter((found) => found === text).length;
    expect(count === 1, 'steering', `${text} is in the history ${count} times`);
  }
  // Steering comes last, so it has a response, or the run is not complete.
  const isAnswered = messages.at(-1)?.role !== 'user';
  expect(
    status !== 'complete' || isAnswered,
    'steering',
    'the run is complete but has no response to the last message',
  );
  for (const { n, settled, toolName } of record.executions) {
    if (settled === undefined || repeatable.has(toolName)) continue;
    const call = resultsOf(messages).get(n);
    // A summary contains neither the call nor a message sent before its response was compacted.
    if (call === undefined) continue;
    expect(
      !call.notRun && !call.text.includes('outcome is unknown'),
      'P13 result',
      `${toolName} finished call ${n}, but its result is: ${call.text}`,
    );
  }
}

function resultsOf(messages: readonly Message[]): Map<unknown, { text: string; notRun: boolean }> {
  const results = new Map<unknown, { text: string; notRun: boolean }>();
  for (const [at, message] of messages.entries()) {
    if (message.role !== 'assistant') continue;
    for (const [index, call] of callsOf(message).entries()) {
      const result = messages[at + 1 + index];
      if (result?.role !== 'tool_result') continue;
      results.set(call.arguments['n'], {
        text: JSON.stringify(result.content),
        notRun: result.notRun === true,
      });
    }
  }
  return results;
}

/** The log matches the state, ends with the end of the run, and was emitted completely. */
function checkLog({ record, result, events, trouble }: Over, expect: Expect): void {
  const own = events.filter(({ runId }) => runId === record.run.id);
  const end = own.findIndex(({ type }) => type === 'finished');
  expect(end < 0 || end === own.length - 1, 'log end', 'events follow the end of their run');
  const shown = record.events.filter(isStored);
  const isHealthy = !trouble.failed && !trouble.fenced && record.hasty !== true;
  // A run that could not read its session has nowhere to write, and may have timed out before it noticed.
  const isLost = record.before.length > 0 && shown.length < 2;
  const isWritten = !isLost && result.error?.code !== 'store';
  if (isHealthy && isWritten) {
    expect(end >= 0, 'log end', 'the end of the run was not committed');
    expect(sameEvents(shown, own), 'readers complete', 'not all committed events were emitted');
  }
  if (end < 0 || !isHealthy || !isWritten) return;
  const state = stateAfter(events, own.at(-1)?.seq ?? 0);
  expect(
    state.finished?.status === result.status,
    'log status',
    `the log ends with ${state.finished?.status}`,
  );
  if (result.status === 'waiting' || record.blind) return;
  expect(
    JSON.stringify(state.messages) === JSON.stringify(result.messages),
    'log is the state',
    'folding the log gives different messages from the result',
  );
  checkLastResponse(state, result, events, expect);
}

/** P4: the status of a run matches the stop reason of its last response. */
function checkLastResponse(state: State, result: RunResult, events: readonly Event[], expect: Expect): void {
  const { status } = result;
  if (status !== 'complete' && status !== 'max_tokens' && status !== 'refusal') return;
  const last = events.findLast((event) => event.type === 'assistant' && event.seq < state.seq);
  const reason = last?.type === 'assistant' ? last.stopReason : undefined;
  const isGiven = events.some((event) => event.type === 'tool_result' && event.final === true);
  expect(
    reason === status || (status === 'complete' && isGiven && reason === 'tool_use'),
    'P4 status',
    `the last response stopped with ${reason}, the run ended with ${status}`,
  );
}

function checkLimits({ record, result, events, chain, around }: Over, expect: Expect): void {
  const { limits, onLimit } = around.setting;
  const runs = [...chain, record.run.id];
  // A damaged log may have lost that a limit was reached.
  const known = events.slice(around.disk.repaired(record.sessionId));
  const own = known.filter(({ runId }) => runs.includes(runId));
  const turns = own.filter(({ type }) => type === 'assistant').length;
  const maxTurns = limits.turns + (onLimit === 'finalize' ? 1 : 0);
  expect(turns <= maxTurns, 'limit on turns', `${turns} responses, but the limit is ${limits.turns}`);
  const wound = own.findIndex((event) => event.type === 'stop_requested' && event.reason === 'limit');
  const closing = wound < 0 ? 0 : own.slice(wound).filter(({ type }) => type === 'assistant').length;
  expect(closing <= 1, 'closing answer', `${closing} responses followed the limit`);
  const started = own.flatMap((event) =>
    event.type === 'tool_started' ? [`${event.turn}.${event.index}`] : [],
  );
  const calls = new Set(started).size;
  expect(calls <= (limits.toolCalls ?? calls), 'limit on calls', `${calls} calls ran`);
  const { totalInputTokens, totalOutputTokens, wasted, usd = 0 } = result.metrics;
  const tokens = totalInputTokens + totalOutputTokens + wasted.inputTokens + wasted.outputTokens;
  expect(tokens <= (limits.tokens ?? tokens), 'limit on tokens', `${tokens} tokens were used`);
  expect(usd <= (limits.usd ?? usd), 'limit on money', `$${usd} were spent`);
}

/** Returns the duration of a run in milliseconds, without the time that users took. */
function ownTime({ startedAt, endedAt = startedAt, waitedMs, waitsSince }: SimulatedRun): number {
  const stillWaited = waitsSince === undefined ? 0 : endedAt - waitsSince;
  return endedAt - startedAt - waitedMs - stillWaited;
}

function sameEvents(left: readonly Event[], right: readonly Event[]): boolean {
  return left.length === right.length && left.every((event, index) => event.id === right[index]?.id);
}

function stateAfter(events: readonly Event[], seq: number): State {
  const state = emptyState();
  for (const event of events) if (event.seq <= seq) fold(state, event);
  return state;
}

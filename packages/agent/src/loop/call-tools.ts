import type { EventBody, ToolResultEvent } from '../events/event.ts';
import type { OpenCall } from '../events/state.ts';
import type { Tool, ToolWait } from '../interfaces/tool.ts';
import { AgentError } from '../values/errors.ts';
import { shown } from '../values/invalid-value.ts';
import { maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { askDuring, askUser, confirmedPlan } from './ask-user.ts';
import { changedOutput } from './hooks.ts';
import type { Job, Plan } from './plan.ts';
import { mustAskOf, refusal } from './plan.ts';
import { planCall } from './plan-call.ts';
import type { RunContext } from './run-context.ts';
import { shortened, usefulBytes } from './tool-output.ts';
import type { ToolOutcome } from './tool-run.ts';
import { runTool } from './tool-run.ts';

/**
 * Runs a batch of calls. The gate decides about the whole batch before anything starts. Then consecutive `read` tools
 * run in parallel and every other tool runs alone, in order. Returns no promise if the gate, the tools and the store
 * answer at once: a promise for each step would cost more than the steps.
 */
export function callTools(run: RunContext, calls: readonly OpenCall[]): Promise<void> | undefined {
  const { state } = run;
  const before = state.toolCalls;
  let fresh = 0;
  for (const { started } of calls) if (!started) fresh += 1;
  const settleCalls = run.config.budget.take('toolCalls', fresh);
  const planning: (Plan | Promise<Plan>)[] = [];
  const ready: Plan[] = [];
  let called: Promise<void> | undefined;
  try {
    for (const call of calls) {
      const plan = planCall(run, call);
      planning.push(plan);
      if (!(plan instanceof Promise) && plan.type !== 'ask') ready.push(plan);
    }
    called = ready.length === calls.length ? callGroups(run, ready) : callDecided(run, planning);
  } finally {
    if (called === undefined) settleCalls(state.toolCalls - before);
  }
  return called?.finally(() => settleCalls(state.toolCalls - before));
}

/** Performs the calls once the gate has decided about each, and users about those that need it. */
async function callDecided(run: RunContext, planning: readonly (Plan | Promise<Plan>)[]): Promise<void> {
  const plans = await Promise.all(planning);
  if (plans.every(({ type }) => type !== 'ask')) return await callGroups(run, plans);
  if (!(await askUser(run, plans))) return;
  const decided = plans.map((plan) => (plan.type === 'ask' ? planCall(run, latest(run, plan.call)) : plan));
  await callGroups(run, await Promise.all(decided));
}

/**
 * Performs the calls from an index on, in at most so many groups. Consecutive tools that may run in parallel are a group,
 * unless they share a lock or wait. Every other call is a group of its own.
 */
function callGroups(
  run: RunContext,
  plans: readonly Plan[],
  first = 0,
  groups = run.config.callsPerStep,
): Promise<void> | undefined {
  let at = first;
  let left = groups;
  while (at < plans.length && left > 0) {
    let end = at + 1;
    while (end < plans.length && joins(run, plans, at, end)) end += 1;
    left -= 1;
    const called = callGroup(run, plans, at, end);
    if (called instanceof Promise)
      return called.then((goesOn) => (goesOn ? callGroups(run, plans, end, left) : undefined));
    if (!called) return undefined;
    at = end;
  }
  return undefined;
}

/** Performs the calls between two indexes at the same time. Returns false if the batch ends here. */
function callGroup(
  run: RunContext,
  plans: readonly Plan[],
  first: number,
  end: number,
): boolean | Promise<boolean> {
  const maxRunning = end === first + 1 ? 1 : maxRunningOf(run, plans.slice(first, end));
  const group: Plan[] = [];
  const waiting: Plan[] = [];
  for (let at = first; at < end; at += 1) {
    const plan = plans[at];
    // An error can skip the rest of the batch, but not the calls in it that started before a crash.
    if (plan === undefined || latest(run, plan.call).result !== undefined) continue;
    if (group.length < maxRunning)
      group.push(
        plan.type !== 'run' || (plan.tool.mustAsk ?? plan.tool.waitUntil) === undefined
          ? plan
          : readyPlan(run, plan),
      );
    else waiting.push(plan);
  }
  if (run.isStopping || run.state.calls.length === 0) return false;
  const [only] = group;
  if (only?.type === 'run' && only.call.approval?.request.changes !== undefined)
    return callConfirmed(run, only);
  const started = start(run, group);
  if (started instanceof Promise) return started.then((isFine) => isFine && settleAll(run, group, waiting));
  return started && settleAll(run, group, waiting);
}

/** Returns how many of these calls can run at the same time. */
function maxRunningOf({ config }: RunContext, plans: readonly Plan[]): number {
  const limits = plans.map((plan) => (plan.type === 'run' ? plan.tool.concurrency : undefined));
  return Math.min(config.toolConcurrency || 1, ...limits.filter((limit) => limit !== undefined)) || 1;
}

/** Performs a call that a user allowed, if it still does what was shown. Returns false if the batch ends here. */
async function callConfirmed(run: RunContext, job: Job): Promise<boolean> {
  const plan = await confirmedPlan(run, job);
  if (plan === undefined || run.isStopping) return false;
  return (await start(run, [plan])) && (await settleAll(run, [plan], []));
}

/**
 * Adds the end of the wait before a call. Refuses a call if an earlier call of the batch has changed what it does since
 * both were decided, or if its tool rejects the wait.
 */
function readyPlan(run: RunContext, plan: Plan): Plan {
  if (plan.type !== 'run') return plan;
  const { call, tool, valid } = plan;
  const mustAsk = tool.mustAsk && mustAskOf(tool, valid);
  if (mustAsk !== undefined && mustAsk !== plan.mustAsk)
    return refusal(call, `The call was not run, because a new decision is required: ${mustAsk}`, {
      denied: true,
    });
  if (tool.waitUntil === undefined) return plan;
  const { runtime, callsPerStep } = run.config;
  try {
    // A step does not wait, so its time limit does not count.
    const msLeft = callsPerStep === 1 ? Number.POSITIVE_INFINITY : run.clock.left;
    const waitUntil = call.waitUntil ?? tool.waitUntil(valid, { now: runtime.now(), msLeft });
    if (waitUntil === undefined || Number.isFinite(waitUntil)) return { ...plan, waitUntil };
    throw new TypeError(`waitUntil is ${shown(waitUntil)}`);
  } catch (thrown) {
    return refusal(call, AgentError.from(thrown, 'tool').message);
  }
}

/** Returns the current state of the call, now that users have decided. */
function latest(run: RunContext, call: OpenCall): OpenCall {
  for (const open of run.state.calls) if (open.turn === call.turn && open.index === call.index) return open;
  return call;
}

/** Returns whether a call runs in parallel with those before it. */
function joins(run: RunContext, plans: readonly Plan[], first: number, next: number): boolean {
  const { callsPerStep, toolScheduling } = run.config;
  if (callsPerStep === 1 || toolScheduling !== 'parallel') return false;
  const plan = plans[next];
  return plan !== undefined && plans.slice(first, next).every((other) => runBeside(other, plan));
}

function runBeside(one: Plan, other: Plan): boolean {
  if (one.type !== 'run' || other.type !== 'run') return false;
  if (!isParallel(one.tool) || !isParallel(other.tool)) return false;
  // A model that waits and then looks means this order.
  if (one.tool.waitUntil !== undefined || other.tool.waitUntil !== undefined) return false;
  // Whether the change is still the one that the user allowed is checked immediately before the call.
  if ((one.call.approval ?? other.call.approval)?.request.changes !== undefined) return false;
  const locks = one.tool.locks ?? [];
  return !(other.tool.locks ?? []).some((lock) => locks.includes(lock));
}

function isParallel({ effect, concurrency = 1 }: Tool): boolean {
  return effect === 'read' || concurrency > 1;
}

/** Records that tools are about to run. Returns false if that failed; the tools must then not run. */
function start(run: RunContext, group: readonly Plan[]): boolean | Promise<boolean> {
  const events: EventBody[] = [];
  let durable = false;
  for (const plan of group) {
    // A call that waits in several steps has started in the first.
    if (plan.type !== 'run' || plan.call.waitUntil !== undefined) continue;
    // If a power failure undid the start of a call, another call could get its idempotency key.
    durable ||= plan.tool.effect !== 'read';
    const { turn, index, part } = plan.call;
    const { id: callId, toolName } = part;
    const event = { type: 'tool_started', turn, index, callId, toolName, arguments: plan.given } as const;
    events.push(plan.waitUntil === undefined ? event : { ...event, waitUntil: plan.waitUntil });
  }
  if (events.length === 0) return true;
  const recorded = run.log.record(events, { durable });
  return recorded instanceof Promise
    ? recorded.then((isRecorded) => isRecorded && !run.isStopping)
    : recorded && !run.isStopping;
}

/** Performs calls that were recorded as started, and then those that wait. */
function settleAll(run: RunContext, group: readonly Plan[], waiting: Plan[]): true | Promise<true> {
  const pending: Promise<void>[] = [];
  for (const plan of group) {
    const result = resultOf(run, plan);
    const isKnown = plan.type !== 'run' || group.length === 1;
    // A result is recorded once all tools of the group have started.
    const settled =
      result instanceof Promise || !isKnown
        ? Promise.resolve(result).then((event) => settle(run, event, waiting))
        : settle(run, result, waiting);
    if (settled !== undefined) pending.push(settled);
  }
  return pending.length === 0 || Promise.all(pending).then(() => true);
}

/** Records the result of a call. Then performs the first of those that wait, and so on. */
function settle(
  run: RunContext,
  event: ToolResultEvent | undefined,
  waiting: Plan[],
): Promise<void> | undefined {
  if (event === undefined) return undefined;
  const stopsBatch = event.isError && run.config.toolErrors === 'stop-batch';
  if (stopsBatch) waiting.length = 0;
  const recorded = run.log.record([stopsBatch ? { ...event, stopsBatch: true } : event]);
  return recorded instanceof Promise || waiting.length > 0 ? settleNext(run, recorded, waiting) : undefined;
}

async function settleNext(
  run: RunContext,
  recorded: boolean | Promise<boolean>,
  waiting: Plan[],
): Promise<void> {
  await recorded;
  const next = waiting.shift();
  if (next === undefined || run.isStopping) return;
  const ready = readyPlan(run, next);
  if (await start(run, [ready])) await settle(run, await resultOf(run, ready), waiting);
}

type Result = ToolResultEvent | undefined;

/**
 * Returns the result of a call: of its tool, unless it is refused. Undefined if the run stopped before it had one.
 * @param wait the wait before the call, once it has ended.
 */
function resultOf(run: RunContext, plan: Plan, wait?: ToolWait): Result | Promise<Result> {
  if (plan.type !== 'run') return plan.type === 'answer' ? plan.event : undefined;
  const { config } = run;
  if (wait === undefined) {
    run.emit({ type: 'status', state: 'running_tool', message: plan.tool.name });
    if (plan.waitUntil !== undefined) return resultAt(run, plan, plan.waitUntil);
  }
  const began = config.runtime.monotonic();
  const ran = runTool(
    run,
    plan,
    usefulBytes(run, plan.tool),
    (question) => askDuring(run, plan.call, question),
    wait,
  );
  return ran instanceof Promise || config.hooks.length > 0 || config.context?.offload !== undefined
    ? resultLater(run, plan, began, ran)
    : ran && eventOf(run, plan, began, ran);
}

async function resultAt(run: RunContext, job: Job, time: number): Promise<Result> {
  const wait = await waitFor(run, time);
  return wait && (await resultOf(run, job, wait));
}

/** Returns the result of a tool as hooks change it, and with long texts offloaded. */
async function resultLater(
  run: RunContext,
  job: Job,
  began: number,
  pending: ToolOutcome | undefined | Promise<ToolOutcome | undefined>,
): Promise<Result> {
  const { tool, given, call } = job;
  const ran = await pending;
  if (ran === undefined) return undefined;
  const done = { id: call.part.id, toolName: tool.name, arguments: given };
  const outcome =
    run.config.hooks.length === 0
      ? ran
      : await changedOutput(run, { call: done, ...ran }, usefulBytes(run, tool));
  return eventOf(run, job, began, { ...outcome, ...(await shortened(run, tool, outcome.content)) });
}

/** Returns the event of a tool that ran. The order of its fields is the order in the log. */
function eventOf(
  run: RunContext,
  { call, tool }: Job,
  began: number,
  { content, blobs, isError, summary, diff, untrusted }: ToolOutcome & Pick<ToolResultEvent, 'blobs'>,
): ToolResultEvent {
  const { runtime, output } = run.config;
  const { turn, index, part } = call;
  const { id: callId, toolName } = part;
  const durationMs = runtime.monotonic() - began;
  const isFinal = tool === output?.tool && !isError;
  const start = { type: 'tool_result', turn, index, callId, toolName, content } as const;
  const event: { -readonly [Field in keyof ToolResultEvent]: ToolResultEvent[Field] } =
    blobs === undefined ? { ...start, isError, durationMs } : { ...start, blobs, isError, durationMs };
  if (summary !== undefined) event.summary = summary;
  if (diff !== undefined) event.diff = cap(diff, maxOutputBytes);
  if (isFinal) event.final = true;
  if (untrusted === true || tool.untrusted === true) event.untrusted = true;
  return event;
}

/** Maximum duration of one timer, in milliseconds. */
const maxTimer = 2 ** 31 - 1;

/** Waits until a time or a user's message. Undefined if the run must stop, or if this step is to end before the wait. */
async function waitFor(run: RunContext, until: number): Promise<ToolWait | undefined> {
  const { runtime, callsPerStep, waitEnded } = run.config;
  for (;;) {
    const endedAt = runtime.now();
    const endedBy = run.state.steering.length > 0 ? 'message' : endedAt >= until ? 'time' : waitEnded;
    if (run.isStopping) return undefined;
    if (endedBy !== undefined) return { until, endedAt, endedBy };
    if (callsPerStep === 1) return undefined;
    const { promise, resolve } = Promise.withResolvers<void>();
    const cancelTimer = runtime.timer(Math.min(until - endedAt, maxTimer), resolve);
    run.wake = resolve;
    await promise;
    cancelTimer();
  }
}

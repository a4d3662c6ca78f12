import type { EventBody, ToolResultEvent } from '../events/event.ts';
import { outcomeUnknown } from '../events/fold.ts';
import type { OpenCall } from '../events/state.ts';
import { openRequests } from '../events/state.ts';
import type { Gate, GateCall, Verdict } from '../interfaces/gate.ts';
import type { Tool, ToolPreview } from '../interfaces/tool.ts';
import { validateArguments } from '../interfaces/tool.ts';
import { askForVerdict } from '../interfaces/verdict.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { asText, shown } from '../values/invalid-value.ts';
import { copyOf, sortedKeys } from '../values/json.ts';
import { cap, maxOutputBytes } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import { changedOutput, hooksAsGates } from './hooks.ts';
import type { RunContext } from './run-context.ts';
import { shortened, usefulBytes } from './tool-output.ts';
import { runTool } from './tool-run.ts';
import { waitFor } from './wait.ts';

/** Maximum number of bytes of the reason why a user must decide. */
const maxReason = 1000;

/** A call with its tool and valid arguments. */
interface Job {
  readonly call: OpenCall;
  readonly tool: Tool;
  /** The arguments as plain data from the model or the gate: these are judged, shown, approved and recorded. */
  readonly given: Record<string, unknown>;
  /** The same arguments, converted by the tool's own validation: these are passed to the tool. */
  readonly valid: Record<string, unknown>;
  /** The reason why a user had to decide when the call was decided. */
  readonly mustAsk: string | undefined;
}

/** The plan for one call: record a result without running it, ask a user, or run it. */
type Plan =
  | { readonly type: 'answer'; readonly call: OpenCall; readonly event: ToolResultEvent }
  | ({ readonly type: 'ask' } & Job)
  | ({ readonly type: 'run'; readonly waitUntil?: number } & Job);

/**
 * Runs a batch of calls. The gate decides about the whole batch before anything starts. Then consecutive `read` tools
 * run in parallel and every other tool runs alone, in order.
 */
export async function callTools(run: RunContext, calls: readonly OpenCall[]): Promise<void> {
  const { state } = run;
  const before = state.toolCalls;
  const settleCalls = run.config.budget.take('toolCalls', calls.filter(({ started }) => !started).length);
  try {
    await callAll(run, calls);
  } finally {
    settleCalls(state.toolCalls - before);
  }
}

async function callAll(run: RunContext, calls: readonly OpenCall[]): Promise<void> {
  let plans = await Promise.all(calls.map((open) => planCall(run, open)));
  if (plans.some((plan) => plan.type === 'ask')) {
    if (!(await askPeople(run, plans))) return;
    plans = await Promise.all(
      plans.map((plan) => (plan.type === 'ask' ? planCall(run, latest(run, plan.call)) : plan)),
    );
  }
  for (const [index, all] of groupsOf(run, plans).entries()) {
    // An error can skip the rest of the batch, but not the calls in it that started before a crash.
    const planned = all.filter(({ call }) => latest(run, call).result === undefined);
    const waiting = planned.splice(run.config.toolConcurrency || 1);
    const group = planned.map((plan) => readyPlan(run, plan));
    if (run.signal.aborted || run.state.calls.length === 0) return;
    if (!(await start(run, group))) return;
    await Promise.all(group.map((plan) => settle(run, plan, waiting)));
    if (index + 1 >= run.config.callsPerStep) return;
  }
}

/**
 * Adds the end of the wait before a call. Refuses a call if an earlier call of the batch has changed what it does since
 * both were decided, or if its tool rejects the wait.
 */
function readyPlan(run: RunContext, plan: Plan): Plan {
  if (plan.type !== 'run') return plan;
  const { call, tool, valid } = plan;
  const mustAsk = mustAskOf(tool, valid);
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
    if (waitUntil === undefined) return plan;
    if (Number.isFinite(waitUntil)) return { ...plan, waitUntil };
    throw new TypeError(`waitUntil is ${shown(waitUntil)}`);
  } catch (thrown) {
    return refusal(call, AgentError.from(thrown, 'tool').message);
  }
}

/** Returns the current state of the call, now that users have decided. */
function latest(run: RunContext, call: OpenCall): OpenCall {
  return run.state.calls.find((open) => open.turn === call.turn && open.index === call.index) ?? call;
}

async function planCall(run: RunContext, open: OpenCall): Promise<Plan> {
  const { part } = open;
  const tool = run.tools.get(part.toolName);
  if (part.problem !== undefined) return refusal(open, `The call was not run: ${part.problem}`);
  if ((open.orphaned || open.waitUntil !== undefined) && (tool?.effect ?? 'once') === 'once')
    return refusal(open, outcomeUnknown, { started: true });
  if (tool === undefined) {
    const known = [...run.tools.keys()].join(', ') || 'none';
    return refusal(open, `There is no tool named ${JSON.stringify(part.toolName)}. Available: ${known}.`);
  }
  // A validator may change its argument, so it gets a copy.
  const valid = await validateArguments(tool, copyOf(part.arguments));
  if (!valid.ok) return refusal(open, `The arguments were refused: ${valid.problem}`);
  const job: Job = {
    call: open,
    tool,
    given: part.arguments,
    valid: valid.value,
    mustAsk: mustAskOf(tool, valid.value),
  };
  const { gate } = run.config;
  const hooks = hooksAsGates(run);
  if (open.approval === undefined) return await planWithGates(job, [...hooks, gate], run);
  // The hooks set the same arguments as before the user was asked.
  const plan = await planWithGates(job, hooks, run);
  return plan.type === 'answer' ? plan : await approved(run, plan);
}

/** Plans a call as these gates decide. The first `deny` counts, and one `ask` is enough to ask a user. */
async function planWithGates(planned: Job, gates: readonly Gate[], run: RunContext): Promise<Plan> {
  const { call } = planned;
  let job = planned;
  let asks = false;
  for (const gate of gates) {
    const verdict = await judge(run, job, gate);
    if (verdict.type === 'deny') return refusal(call, verdict.message, { denied: true });
    asks ||= verdict.type === 'ask';
    if (verdict.type === 'ask' || verdict.arguments === undefined) continue;
    const changed = await withArguments(job, verdict.arguments);
    if (typeof changed === 'string')
      return refusal(call, `The arguments set by the permission gate were refused: ${changed}`);
    job = changed;
  }
  return { ...job, type: asks ? 'ask' : 'run' };
}

/** Returns the job with other arguments, or the reason why they are refused. */
async function withArguments(job: Job, given: Record<string, unknown>): Promise<Job | string> {
  const valid = await validateArguments(job.tool, copyOf(given));
  if (!valid.ok) return valid.problem;
  const mustAsk = mustAskOf(job.tool, valid.value);
  if (mustAsk !== undefined && mustAsk !== job.mustAsk) return mustAsk;
  return { ...job, given, valid: valid.value, mustAsk };
}

/** Plans a call that was submitted for approval. The hash binds the approval to its tool and arguments. */
async function approved(run: RunContext, job: Job): Promise<Plan> {
  const { call, tool, given } = job;
  const { approval } = call;
  if (approval?.decision === undefined) return { ...job, type: 'ask' };
  if (approval.decision === 'allow') {
    const hash = await approvalHash(run, tool.name, given);
    if (hash === approval.request.hash) return { ...job, type: 'run', mustAsk: approval.request.mustAsk };
    return refusal(call, 'The call was not run: its arguments are not the ones that were approved.', {
      denied: true,
    });
  }
  const reasons = {
    deny: 'A person denied this call.',
    expired: 'No decision was made in time.',
    superseded: 'A new message came first.',
  };
  return refusal(call, approval.message ?? reasons[approval.decision], { denied: true });
}

async function judge(
  run: RunContext,
  { call, tool, given, valid, mustAsk }: Job,
  gate: Gate,
): Promise<Verdict> {
  const gateCall: GateCall = {
    id: call.part.id,
    toolName: tool.name,
    arguments: copyOf(given),
    effect: tool.effect ?? 'once',
    subject: subjectOf(tool, valid),
    ...defined({ mustAsk }),
  };
  return await askForVerdict(() => gate(gateCall, { signal: run.signal, session: run.config.sessionId }));
}

/** Returns the one argument that matters, for users and rules; empty if the tool names none or throws. */
export function subjectOf(tool: Tool, args: Record<string, unknown>): string {
  try {
    return wellFormedText(asText(tool.subject?.(args) ?? ''));
  } catch {
    return '';
  }
}

/** Returns the reason why a user must decide about a call. A tool that throws requires a decision. */
function mustAskOf(tool: Tool, args: Record<string, unknown>): string | undefined {
  try {
    const why = tool.mustAsk?.(args);
    return why === undefined ? undefined : cap(wellFormedText(asText(why)), maxReason);
  } catch (thrown) {
    return cap(AgentError.from(thrown, 'tool').message, maxReason);
  }
}

/** Returns the fields with which every event about a call begins. */
function identityOf({ turn, index, part: { id: callId, toolName } }: OpenCall) {
  return { turn, index, callId, toolName };
}

function refusal(call: OpenCall, message: string, how: { denied?: boolean; started?: boolean } = {}): Plan {
  const event: ToolResultEvent = {
    type: 'tool_result',
    ...identityOf(call),
    content: [{ type: 'text', text: cap(wellFormedText(message) || '(no reason given)', maxOutputBytes) }],
    isError: true,
    durationMs: 0,
    ...(how.started !== true && { notRun: true }),
    ...(how.denied === true && { denied: true }),
  };
  return { type: 'answer', call, event };
}

/** Records approval requests and waits for the decisions. Returns false if no user is present or the run must stop. */
async function askPeople(run: RunContext, plans: readonly Plan[]): Promise<boolean> {
  const asking = plans.filter((plan) => plan.type === 'ask');
  const fresh = asking.filter((plan) => plan.call.approval === undefined);
  if (fresh.length > 0) {
    const requests = await Promise.all(fresh.map((plan) => approvalRequest(run, plan)));
    if (!(await run.record(requests))) return false;
  }
  if (!run.config.attended) return false;
  run.emit({ type: 'status', state: 'waiting' });
  const startClock = run.clock.hold();
  const requests = openRequests(run.state).filter(({ index }) =>
    asking.some((plan) => plan.call.index === index),
  );
  await Promise.all(requests.map((request) => run.decided(request)));
  startClock();
  return !run.signal.aborted;
}

async function approvalRequest(
  run: RunContext,
  { call, tool, given, valid, mustAsk }: Job,
): Promise<EventBody> {
  const hash = await approvalHash(run, tool.name, given);
  const preview = await previewOf(tool, valid);
  return {
    type: 'approval_requested',
    approvalId: run.config.runtime.id(),
    ...identityOf(call),
    arguments: given,
    hash,
    ...(run.config.approvalMs !== undefined && {
      expiresAt: run.config.runtime.now() + run.config.approvalMs,
    }),
    subject: subjectOf(tool, valid),
    ...defined({ mustAsk }),
    ...preview,
  };
}

async function previewOf(tool: Tool, args: Record<string, unknown>): Promise<ToolPreview> {
  try {
    const { summary, diff } = (await tool.preview?.(args)) ?? {};
    return {
      ...(summary !== undefined && { summary: wellFormedText(summary) }),
      ...(diff !== undefined && { diff: cap(wellFormedText(diff), maxOutputBytes) }),
    };
  } catch (thrown) {
    return { summary: AgentError.from(thrown, 'tool').message };
  }
}

function approvalHash(run: RunContext, toolName: string, args: Record<string, unknown>): Promise<string> {
  return run.config.runtime.digest(JSON.stringify([toolName, sortedKeys(args)]));
}

/** Groups calls: consecutive reads run in parallel unless they share a lock or wait; every other call runs alone. */
function groupsOf(run: RunContext, plans: readonly Plan[]): Plan[][] {
  const groups: Plan[][] = [];
  for (const plan of plans) {
    const together = groups.at(-1);
    const joins =
      run.config.callsPerStep > 1 &&
      run.config.toolScheduling === 'parallel' &&
      together?.every((other) => runBeside(other, plan));
    if (together !== undefined && joins) together.push(plan);
    else groups.push([plan]);
  }
  return groups;
}

function runBeside(one: Plan, other: Plan): boolean {
  if (one.type !== 'run' || other.type !== 'run') return false;
  if (one.tool.effect !== 'read' || other.tool.effect !== 'read') return false;
  // A model that waits and then looks means this order.
  if (one.tool.waitUntil !== undefined || other.tool.waitUntil !== undefined) return false;
  const locks = one.tool.locks ?? [];
  return !(other.tool.locks ?? []).some((lock) => locks.includes(lock));
}

/** Records that tools are about to run. Returns false if that failed; the tools must then not run. */
async function start(run: RunContext, group: readonly Plan[]): Promise<boolean> {
  // A call that waits in several steps has started in the first.
  const running = group
    .filter((plan) => plan.type === 'run')
    .filter(({ call }) => call.waitUntil === undefined);
  if (running.length === 0) return true;
  // If a power failure undid the start of a call, another call could get its idempotency key.
  const durable = running.some((plan) => plan.tool.effect !== 'read');
  const started = running.map((plan) => ({
    type: 'tool_started' as const,
    ...identityOf(plan.call),
    arguments: plan.given,
    ...(plan.waitUntil !== undefined && { waitUntil: plan.waitUntil }),
  }));
  return (await run.record(started, { durable })) && !run.signal.aborted;
}

/** Performs a call, and after it the first of those that wait, and so on. */
async function settle(run: RunContext, plan: Plan, waiting: Plan[]): Promise<void> {
  if (plan.type === 'ask') return;
  const event = plan.type === 'answer' ? plan.event : await resultOf(run, plan);
  if (event === undefined) return;
  const stopsBatch = event.isError && run.config.toolErrors === 'stop-batch';
  if (stopsBatch) waiting.length = 0;
  await run.record([stopsBatch ? { ...event, stopsBatch: true } : event]);
  const next = waiting.shift();
  if (next === undefined || run.signal.aborted) return;
  const ready = readyPlan(run, next);
  if (await start(run, [ready])) await settle(run, ready, waiting);
}

async function resultOf(
  run: RunContext,
  plan: Extract<Plan, { type: 'run' }>,
): Promise<ToolResultEvent | undefined> {
  const { call, tool, waitUntil } = plan;
  run.emit({ type: 'status', state: 'running_tool', message: tool.name });
  const wait = waitUntil === undefined ? undefined : await waitFor(run, waitUntil);
  if (waitUntil !== undefined && wait === undefined) return undefined;
  const began = run.config.runtime.monotonic();
  const idempotencyKey = `${run.config.sessionId}:${call.turn}.${call.index}`;
  const callId = call.part.id;
  const maxBytes = usefulBytes(run, tool);
  const ran = await runTool(run, { tool, arguments: plan.valid, callId, idempotencyKey, maxBytes, wait });
  if (ran === undefined) return undefined;
  const done = { id: callId, toolName: tool.name, arguments: plan.given };
  const outcome =
    run.config.hooks.length === 0 ? ran : await changedOutput(run, { call: done, ...ran }, maxBytes);
  const output = await shortened(run, tool, outcome.content);
  return {
    type: 'tool_result',
    ...identityOf(call),
    ...output,
    isError: outcome.isError,
    durationMs: run.config.runtime.monotonic() - began,
    ...defined({ summary: outcome.summary }),
    ...(outcome.diff !== undefined && { diff: cap(outcome.diff, maxOutputBytes) }),
    ...(tool === run.config.output?.tool && !outcome.isError && { final: true }),
  };
}

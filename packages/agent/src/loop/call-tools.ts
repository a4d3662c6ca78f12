import type { EventBody, ToolResultEvent } from '../events/event.ts';
import { outcomeUnknown } from '../events/fold.ts';
import type { OpenCall } from '../events/state.ts';
import type { GateCall, Verdict } from '../interfaces/gate.ts';
import type { Tool, ToolPreview } from '../interfaces/tool.ts';
import { validateArguments } from '../interfaces/tool.ts';
import { askForVerdict } from '../interfaces/verdict.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { Json } from '../values/json.ts';
import { copyOf } from '../values/json.ts';
import { cap, maxOutputBytes } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { RunContext } from './run-context.ts';
import { shortened, usefulBytes } from './tool-output.ts';
import { runTool } from './tool-run.ts';

/** Most bytes of the words why a person has to look. */
const maxReason = 1000;

/** A call with a tool and arguments that fit it. */
interface Job {
  readonly call: OpenCall;
  readonly tool: Tool;
  /** Plain data, as the model or the gate gave them: what is judged, shown, approved and recorded. */
  readonly given: Record<string, unknown>;
  /** What the tool gets: the same, converted by its own check. */
  readonly valid: Record<string, unknown>;
  /** Why the tool wanted a person to look when the call was decided. */
  readonly mustAsk: string | undefined;
}

/** What is to be done about one call: answer it without running, ask a person, or run it. */
type Plan =
  | { readonly type: 'answer'; readonly call: OpenCall; readonly event: ToolResultEvent }
  | ({ readonly type: 'ask' } & Job)
  | ({ readonly type: 'run' } & Job);

/**
 * Runs a batch of calls. The gate is asked about the whole batch before anything starts; neighbouring
 * `read` tools then run together and any other tool alone, in order.
 */
export async function call(work: RunContext, calls: readonly OpenCall[]): Promise<void> {
  const { state } = work;
  const before = state.toolCalls;
  const settleCalls = work.budget.take('toolCalls', calls.length);
  try {
    await callAll(work, calls);
  } finally {
    settleCalls(state.toolCalls - before);
  }
}

async function callAll(work: RunContext, calls: readonly OpenCall[]): Promise<void> {
  let plans = await Promise.all(calls.map((open) => planCall(work, open)));
  if (plans.some((plan) => plan.type === 'ask')) {
    if (!(await askPeople(work, plans))) return;
    plans = await Promise.all(
      plans.map((plan) => (plan.type === 'ask' ? planCall(work, latest(work, plan.call)) : plan)),
    );
  }
  for (const planned of groupsOf(work, plans)) {
    const group = planned.map(stillDecided);
    if (work.signal.aborted || work.state.calls.length === 0) return;
    if (!(await start(work, group))) return;
    await Promise.all(group.map((plan) => settle(work, plan)));
    if (work.oneCall) return;
  }
}

/** An earlier call of the batch may change what a later one does, after the decision about both. */
function stillDecided(plan: Plan): Plan {
  const now = plan.type === 'run' ? mustAskOf(plan.tool, plan.valid) : undefined;
  if (plan.type !== 'run' || now === undefined || now === plan.mustAsk) return plan;
  return refusal(plan.call, `The call was not run, because this is new since it was decided: ${now}`, {
    denied: true,
  });
}

/** The call as it stands now that people have decided. */
function latest(work: RunContext, call: OpenCall): OpenCall {
  return work.state.calls.find((open) => open.turn === call.turn && open.index === call.index) ?? call;
}

async function planCall(work: RunContext, open: OpenCall): Promise<Plan> {
  const { part } = open;
  const tool = work.tools.get(part.toolName);
  if (part.problem !== undefined) return refusal(open, `The call was not run: ${part.problem}`);
  if (open.orphaned && (tool?.effect ?? 'once') === 'once')
    return refusal(open, outcomeUnknown, { started: true });
  if (tool === undefined) {
    const known = [...work.tools.keys()].join(', ') || 'none';
    return refusal(open, `There is no tool named ${JSON.stringify(part.toolName)}. Available: ${known}.`);
  }
  // Whoever looks at arguments may change what he is given; the conversation keeps them as they came.
  const valid = await validateArguments(tool, copyOf(part.arguments));
  if (!valid.ok) return refusal(open, `The arguments were refused: ${valid.problem}`);
  const job: Job = {
    call: open,
    tool,
    given: part.arguments,
    valid: valid.value,
    mustAsk: mustAskOf(tool, valid.value),
  };
  return open.approval === undefined ? await gated(work, job) : await approved(work, job);
}

async function gated(work: RunContext, job: Job): Promise<Plan> {
  const { call, tool } = job;
  const verdict = await judge(work, job);
  if (verdict.type === 'deny') return refusal(call, verdict.message, { denied: true });
  if (verdict.type === 'ask') return { type: 'ask', ...job };
  if (verdict.arguments === undefined) return { type: 'run', ...job };
  const given = verdict.arguments;
  const valid = await validateArguments(tool, copyOf(given));
  if (!valid.ok)
    return refusal(call, `The arguments set by the permission gate were refused: ${valid.problem}`);
  const mustAsk = mustAskOf(tool, valid.value);
  if (mustAsk !== undefined && mustAsk !== job.mustAsk)
    return refusal(call, `The arguments set by the permission gate were refused: ${mustAsk}`);
  return { type: 'run', call, tool, given, valid: valid.value, mustAsk };
}

/** What was approved is what runs: the approval is bound to tool and arguments by its hash. */
async function approved(work: RunContext, job: Job): Promise<Plan> {
  const { call, tool, given } = job;
  const { approval } = call;
  if (approval?.decision === undefined) return { type: 'ask', ...job };
  if (approval.decision === 'allow') {
    const hash = await approvalHash(work, tool.name, given);
    if (hash === approval.request.hash) return { type: 'run', ...job, mustAsk: approval.request.mustAsk };
    return refusal(call, 'The call was not run: its arguments are not the ones that were approved.', {
      denied: true,
    });
  }
  const reasons = {
    deny: 'A person denied this call.',
    expired: 'Nobody decided in time.',
    superseded: 'A new message came first.',
  };
  return refusal(call, approval.message ?? reasons[approval.decision], { denied: true });
}

async function judge(work: RunContext, { call, tool, given, valid, mustAsk }: Job): Promise<Verdict> {
  const gateCall: GateCall = {
    id: call.part.id,
    toolName: tool.name,
    arguments: copyOf(given),
    effect: tool.effect ?? 'once',
    subject: subjectOf(tool, valid),
    ...defined({ mustAsk }),
  };
  return await askForVerdict(() => work.gate(gateCall, { signal: work.signal, session: work.sessionId }));
}

/** The one argument that matters, for people and rules; empty when the tool names none or cannot say. */
export function subjectOf(tool: Tool, args: Record<string, unknown>): string {
  try {
    return wellFormedText(String(tool.subject?.(args) ?? ''));
  } catch {
    return '';
  }
}

/** A tool that cannot say whether a person has to look wants one. */
function mustAskOf(tool: Tool, args: Record<string, unknown>): string | undefined {
  try {
    const why = tool.mustAsk?.(args);
    return why === undefined ? undefined : cap(wellFormedText(String(why)), maxReason);
  } catch (thrown) {
    return cap(AgentError.from(thrown, 'tool').message, maxReason);
  }
}

function refusal(call: OpenCall, message: string, how: { denied?: boolean; started?: boolean } = {}): Plan {
  const event: ToolResultEvent = {
    type: 'tool_result',
    turn: call.turn,
    index: call.index,
    callId: call.part.id,
    toolName: call.part.toolName,
    content: [{ type: 'text', text: cap(wellFormedText(message) || '(no reason given)', maxOutputBytes) }],
    isError: true,
    durationMs: 0,
    ...(how.started !== true && { notRun: true }),
    ...(how.denied === true && { denied: true }),
  };
  return { type: 'answer', call, event };
}

/** Records what people are asked and waits for them. False: nobody is there, or the run must stop. */
async function askPeople(work: RunContext, plans: readonly Plan[]): Promise<boolean> {
  const asking = plans.filter((plan) => plan.type === 'ask');
  const fresh = asking.filter((plan) => plan.call.approval === undefined);
  const place = asking[0]?.call.turn ?? 0;
  if (fresh.length > 0) {
    const { recorded } = await work.step(`approval:${place}`, () =>
      Promise.all(fresh.map((plan) => approvalRequest(work, plan))),
    );
    if (!recorded) return false;
  }
  if (!work.attended) return false;
  work.live({ type: 'status', state: 'waiting' });
  const startClock = work.pauseClock();
  const turn = work.state.calls.filter((open) => asking.some((plan) => plan.call.index === open.index));
  const requests = turn.flatMap(({ approval }) => (approval === undefined ? [] : [approval.request]));
  await Promise.all(requests.map((request) => work.decided(request)));
  startClock();
  return !work.signal.aborted;
}

async function approvalRequest(
  work: RunContext,
  { call, tool, given, valid, mustAsk }: Job,
): Promise<EventBody> {
  const hash = await approvalHash(work, tool.name, given);
  const preview = await previewOf(tool, valid);
  return {
    type: 'approval_requested',
    approvalId: work.runtime.id(),
    turn: call.turn,
    index: call.index,
    callId: call.part.id,
    toolName: tool.name,
    arguments: given,
    hash,
    ...(work.approvalMs !== undefined && { expiresAt: work.runtime.now() + work.approvalMs }),
    subject: subjectOf(tool, valid),
    ...defined({ mustAsk }),
    ...preview,
  };
}

async function previewOf(tool: Tool, args: Record<string, unknown>): Promise<ToolPreview> {
  try {
    const preview = (await tool.preview?.(args)) ?? {};
    return {
      ...defined({
        summary: preview.summary === undefined ? undefined : wellFormedText(preview.summary),
        diff: preview.diff === undefined ? undefined : cap(wellFormedText(preview.diff), maxOutputBytes),
      }),
    };
  } catch (thrown) {
    return { summary: AgentError.from(thrown, 'tool').message };
  }
}

function approvalHash(work: RunContext, toolName: string, args: Record<string, unknown>): Promise<string> {
  return work.runtime.digest(JSON.stringify([toolName, sorted(args as Json)]));
}

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.keys(value)
      .sort()
      .map((key) => [key, sorted(value[key] as Json)]),
  );
}

/** Neighbouring reads run together unless they want the same thing for themselves; all else runs alone. */
function groupsOf(work: RunContext, plans: readonly Plan[]): Plan[][] {
  const groups: Plan[][] = [];
  for (const plan of plans) {
    const together = groups.at(-1);
    const joins =
      !work.oneCall &&
      work.toolScheduling === 'parallel' &&
      together?.every((other) => runBeside(other, plan));
    if (together !== undefined && joins) together.push(plan);
    else groups.push([plan]);
  }
  return groups;
}

function runBeside(one: Plan, other: Plan): boolean {
  if (one.type !== 'run' || other.type !== 'run') return false;
  if (one.tool.effect !== 'read' || other.tool.effect !== 'read') return false;
  const locks = one.tool.locks ?? [];
  return !(other.tool.locks ?? []).some((lock) => locks.includes(lock));
}

/** Records that tools are about to run. False: it could not be recorded, so they must not. */
async function start(work: RunContext, group: readonly Plan[]): Promise<boolean> {
  const running = group.filter((plan) => plan.type === 'run');
  const first = running[0];
  if (first === undefined) return true;
  const durable = running.some((plan) => (plan.tool.effect ?? 'once') === 'once');
  const { recorded, replayed } = await work.step(
    `start:${first.call.turn}.${first.call.index}`,
    () =>
      running.map((plan) => ({
        type: 'tool_started',
        turn: plan.call.turn,
        index: plan.call.index,
        callId: plan.call.part.id,
        toolName: plan.tool.name,
        arguments: plan.given,
      })),
    { durable },
  );
  // A start that comes from a journal was made by a process that is gone: that tool may have run.
  if (replayed && durable) {
    await Promise.all(
      running.map((plan) => settle(work, refusal(plan.call, outcomeUnknown, { started: true }))),
    );
    return false;
  }
  return recorded && !work.signal.aborted;
}

async function settle(work: RunContext, plan: Plan): Promise<void> {
  if (plan.type === 'ask') return;
  await work.step(`result:${plan.call.turn}.${plan.call.index}`, async () => {
    const event = plan.type === 'answer' ? plan.event : await resultOf(work, plan);
    if (event === undefined) return [];
    return [event.isError && work.toolErrors === 'stop-batch' ? { ...event, stopsBatch: true } : event];
  });
}

async function resultOf(
  work: RunContext,
  plan: Extract<Plan, { type: 'run' }>,
): Promise<ToolResultEvent | undefined> {
  const { call, tool } = plan;
  const began = work.runtime.monotonic();
  work.live({ type: 'status', state: 'running_tool', message: tool.name });
  const idempotencyKey = `${work.sessionId}:${call.turn}.${call.index}`;
  const outcome = await runTool(work, {
    tool,
    arguments: plan.valid,
    callId: call.part.id,
    idempotencyKey,
    maxBytes: usefulBytes(work, tool),
  });
  if (outcome === undefined) return undefined;
  const output = await shortened(work, tool, outcome.content);
  return {
    type: 'tool_result',
    turn: call.turn,
    index: call.index,
    callId: call.part.id,
    toolName: tool.name,
    ...output,
    isError: outcome.isError,
    durationMs: work.runtime.monotonic() - began,
    ...defined({ summary: outcome.summary }),
    ...(outcome.diff !== undefined && { diff: cap(outcome.diff, maxOutputBytes) }),
    ...(tool === work.answerTool && !outcome.isError && { final: true }),
  };
}

import type { Approval, OpenCall } from '../events/state.ts';
import { outcomeUnknown } from '../events/unrun-result.ts';
import type { Gate, GateCall, Verdict } from '../interfaces/gate.ts';
import { allowAll } from '../interfaces/gate.ts';
import type { Tool, Validation } from '../interfaces/tool.ts';
import { validateArguments } from '../interfaces/tool.ts';
import { askGate } from '../interfaces/verdict.ts';
import { defined } from '../values/defined.ts';
import { copyOf } from '../values/json.ts';
import { maxArgumentBytes, sizeOf } from '../values/sizes.ts';
import { planDecided } from './ask-user.ts';
import { hooksAsGates } from './hooks.ts';
import type { Job, Plan } from './plan.ts';
import { mustAskOf, refusal, subjectOf } from './plan.ts';
import type { RunContext } from './run-context.ts';

/** Plans a call. Returns no promise if its validation and the gate answer at once, as nearly all do. */
export function planCall(run: RunContext, call: OpenCall): Plan | Promise<Plan> {
  const { part } = call;
  const tool = run.tools.get(part.toolName);
  if (part.problem !== undefined) return refusal(call, `The call was not run: ${part.problem}`);
  if ((call.orphaned || call.waitUntil !== undefined) && (tool?.effect ?? 'once') === 'once')
    return refusal(call, outcomeUnknown, { started: true });
  if (tool === undefined) {
    const known = [...run.tools.keys()].join(', ') || 'none';
    return refusal(call, `There is no tool named ${JSON.stringify(part.toolName)}. Available: ${known}.`);
  }
  // A validator may change its argument, so it gets a copy.
  const valid = validateArguments(tool, copyOf(part.arguments));
  return valid instanceof Promise
    ? valid.then((validation) => planValid(run, call, tool, validation))
    : planValid(run, call, tool, valid);
}

function planValid(run: RunContext, call: OpenCall, tool: Tool, valid: Validation): Plan | Promise<Plan> {
  if (!valid.ok) return refusal(call, `The arguments were rejected: ${valid.problem}`);
  const job: Job = {
    type: 'run',
    call,
    tool,
    given: call.part.arguments,
    valid: valid.value,
    mustAsk: (tool.mustAsk ?? tool.sends) ? whyAsk(run, call, tool, valid.value) : undefined,
    waitUntil: undefined,
    approved: undefined,
  };
  const { gate, hooks } = run.config;
  if (call.approval !== undefined) return planSubmitted(run, job, call.approval);
  if (gate === allowAll && hooks.length === 0) return job;
  return planWithGates(run, job, hooks.length === 0 ? [gate] : [...hooksAsGates(run), gate]);
}

/** Returns why a user must decide about a call: its tool says so, or it can send data that the model read from others. */
function whyAsk(
  run: RunContext,
  call: OpenCall,
  tool: Tool,
  valid: Record<string, unknown>,
): string | undefined {
  const own = tool.mustAsk && mustAskOf(tool, valid);
  const source = own === undefined && tool.sends === true ? untrustedBefore(run, call) : undefined;
  if (source === undefined) return own;
  return `It can send data, and the conversation contains untrusted output from ${source}, which may contain instructions.`;
}

/** Returns the tool whose untrusted output the model had read when it wrote a call. */
function untrustedBefore({ state: { untrusted } }: RunContext, { turn }: OpenCall): string | undefined {
  return untrusted !== undefined && untrusted.turn < turn ? untrusted.toolName : undefined;
}

/** Plans a call as the gates from an index on decide. The first `deny` counts, and one `ask` is enough to ask a user. */
function planWithGates(run: RunContext, job: Job, gates: readonly Gate[], first = 0): Plan | Promise<Plan> {
  let index = first;
  for (let gate = gates[index]; gate !== undefined; gate = gates[index]) {
    const verdict = judge(run, job, gate);
    index += 1;
    if (verdict instanceof Promise || verdict.type !== 'allow' || verdict.arguments !== undefined)
      return planChanged(run, job, verdict, gates, index);
  }
  return job;
}

/** Applies a verdict that takes time or changes the plan, and then those of the gates from an index on. */
async function planChanged(
  run: RunContext,
  job: Job,
  pending: Verdict | Promise<Verdict>,
  gates: readonly Gate[],
  next: number,
): Promise<Plan> {
  const verdict = await pending;
  if (verdict.type === 'deny') return refusal(job.call, verdict.message, { denied: true });
  if (verdict.type === 'ask') job.type = 'ask';
  else if (verdict.arguments !== undefined) {
    const problem = await changeArguments(run, job, verdict.arguments);
    if (problem !== undefined)
      return refusal(job.call, `The arguments set by the permission gate were rejected: ${problem}`);
  }
  return planWithGates(run, job, gates, next);
}

/** Changes the arguments of a call, or resolves with the reason why they are refused. */
async function changeArguments(
  run: RunContext,
  job: Job,
  given: Record<string, unknown>,
): Promise<string | undefined> {
  if (sizeOf(given) > maxArgumentBytes) return `They exceed ${maxArgumentBytes} bytes.`;
  const valid = await validateArguments(job.tool, copyOf(given));
  if (!valid.ok) return valid.problem;
  const mustAsk = whyAsk(run, job.call, job.tool, valid.value);
  if (mustAsk !== undefined && mustAsk !== job.mustAsk) return mustAsk;
  job.given = given;
  job.valid = valid.value;
  job.mustAsk = mustAsk;
  return undefined;
}

/** Plans a call that was submitted for approval. The hooks set the same arguments as before the user was asked. */
async function planSubmitted(run: RunContext, job: Job, approval: Approval): Promise<Plan> {
  const plan = await planWithGates(run, job, hooksAsGates(run));
  return plan.type === 'answer' ? plan : await planDecided(run, plan, approval);
}

function judge(run: RunContext, job: Job, gate: Gate): Verdict | Promise<Verdict> {
  const { tool, mustAsk } = job;
  const untrusted = untrustedBefore(run, job.call);
  const call: GateCall = {
    id: job.call.part.id,
    toolName: tool.name,
    arguments: copyOf(job.given),
    effect: tool.effect ?? 'once',
    subject: tool.subject === undefined ? '' : subjectOf(tool, job.valid),
  };
  const context = { signal: run.signal, session: run.config.sessionId };
  const isUsual = mustAsk === undefined && untrusted === undefined;
  return askGate(gate, isUsual ? call : { ...call, ...defined({ mustAsk, untrusted }) }, context);
}

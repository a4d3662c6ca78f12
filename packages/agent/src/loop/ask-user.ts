import type { ApprovalRequestedEvent, CallPosition, EventBody } from '../events/event.ts';
import { limitQuestion } from '../events/limit-question.ts';
import type { Approval, OpenCall } from '../events/state.ts';
import { openLimit, openRequests } from '../events/state.ts';
import type { ReachedLimit } from '../interfaces/limits.ts';
import { limitDetails } from '../interfaces/limits.ts';
import type { ToolAnswer, ToolQuestion } from '../interfaces/tool.ts';
import { defined } from '../values/defined.ts';
import type { AgentError } from '../values/errors.ts';
import { data, read, record, text } from '../values/input.ts';
import { maxCalls, maxNoteBytes, maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { Job, Plan } from './plan.ts';
import { refusal, subjectOf } from './plan.ts';
import type { Proposal } from './proposal.ts';
import { approvalHash, proposalOf, proposalsOf } from './proposal.ts';
import type { RunContext } from './run-context.ts';
import { unasked } from './tool-run.ts';

/** Records approval requests and waits for the decisions. Returns false if no user is present or the run must stop. */
export async function askUser(run: RunContext, plans: readonly Plan[]): Promise<boolean> {
  const jobs = plans.filter((plan): plan is Job => plan.type !== 'answer');
  const proposals = await proposalsOf(run, jobs);
  const requests = proposals.map(([job, proposal]) => approvalRequest(run, job, proposal));
  const asking = jobs.filter(({ type }) => type === 'ask');
  return await askFor(run, asking, requests);
}

/** Records approval requests and waits for the decisions about these calls. */
async function askFor(
  run: RunContext,
  asking: readonly Job[],
  requests: readonly ApprovalRequestedEvent[],
): Promise<boolean> {
  if (requests.length > 0 && !(await run.log.record(requests))) return false;
  if (!run.config.attended) return false;
  const open = openRequests(run.state).filter(({ index }) =>
    asking.some((plan) => plan.call.index === index),
  );
  await decisions(run, open);
  return !run.isStopping;
}

async function decisions(run: RunContext, requests: readonly ApprovalRequestedEvent[]): Promise<void> {
  run.emit({ type: 'status', state: 'waiting' });
  const startClock = run.clock.hold();
  await Promise.all(requests.map((request) => run.decided(request)));
  startClock();
}

/** Waits for the answer to the open question about a limit. */
export async function waitForAnswer(run: RunContext): Promise<void> {
  const request = openLimit(run.state);
  if (request !== undefined) await decisions(run, [request]);
}

/**
 * Returns the events of a failed request, with the question whether the run continues if a limit refused it. A limit that
 * is neither the run's own nor in a store is enforced by the caller, who ends the run.
 */
export function withQuestion(
  run: RunContext,
  failed: EventBody,
  error: AgentError,
): readonly EventBody[] | Promise<readonly EventBody[]> {
  const { onReached, budget } = run.config;
  const { of, ...limit } = (onReached === 'ask' && limitDetails(error)) || { more: 0 };
  const isOpen = 'amount' in limit && limit.more > 0 && (limit.budget !== undefined || of === budget);
  return isOpen ? limitRequest(run, limit).then((asked) => [failed, asked]) : [failed];
}

async function limitRequest(run: RunContext, limit: ReachedLimit): Promise<EventBody> {
  const approvalId = run.config.runtime.id();
  const given = { ...limit };
  return {
    type: 'approval_requested',
    approvalId,
    turn: run.state.answers,
    // No call has it.
    index: maxCalls,
    callId: approvalId,
    toolName: 'continue',
    arguments: given,
    hash: await approvalHash(run, 'continue', given, {}),
    ...expiry(run),
    subject: limitQuestion(limit).text,
    limit,
  };
}

function expiry({ config: { approvalMs, runtime } }: RunContext): { expiresAt?: number } {
  return approvalMs === undefined ? {} : { expiresAt: runtime.now() + approvalMs };
}

/** Maximum number of times that a user is asked again about one call, in case its preview is never the same. */
const maxRepeats = 10;

const keepsChanging =
  'The call was not run: the changes that it would make were different each time it was allowed.';

/**
 * Returns the plan for a call that a user allowed, immediately before it runs. If the call would no longer do what was
 * shown, because a file has changed since then, the user is asked again, with what it would do now.
 * Undefined if the run stops or ends first.
 */
export async function confirmedPlan(run: RunContext, plan: Job): Promise<Plan | undefined> {
  let job = plan;
  for (let asked = 0; ; asked += 1) {
    const proposal = await proposalOf(run, job);
    if (proposal.shown.hash === job.call.approval?.request.hash)
      return { ...job, approved: proposal.changes };
    if (asked === maxRepeats) return refusal(job.call, keepsChanging, { denied: true });
    const request: ApprovalRequestedEvent = { ...approvalRequest(run, job, proposal), isRepeated: true };
    if (!(await askFor(run, [job], [request]))) return undefined;
    const { turn, index } = job.call;
    const call = run.state.calls.find((open) => open.turn === turn && open.index === index);
    if (call?.approval === undefined) return undefined;
    const decided = await planDecided(run, { ...job, call }, call.approval);
    if (decided.type !== 'run') return decided;
    job = decided;
  }
}

function approvalRequest(
  run: RunContext,
  { call, tool, given, valid, mustAsk }: Job,
  { shown }: Proposal,
): ApprovalRequestedEvent {
  const { turn, index, part } = call;
  const { hash, ...details } = shown;
  return {
    type: 'approval_requested',
    approvalId: run.config.runtime.id(),
    turn,
    index,
    callId: part.id,
    toolName: part.toolName,
    arguments: given,
    hash,
    ...expiry(run),
    subject: cap(subjectOf(tool, valid), maxOutputBytes),
    ...defined({ mustAsk }),
    ...details,
  };
}

const readQuestion = record<ToolQuestion>(
  {
    toolName: text,
    arguments: data<Record<string, unknown>>,
    subject: text,
    summary: text,
    diff: text,
    mustAsk: text,
  },
  ['toolName', 'arguments'],
);

/** Asks a user about a step of a call that is running. */
export async function askDuring(
  run: RunContext,
  { turn, index, part }: CallPosition & Pick<OpenCall, 'part'>,
  given: ToolQuestion,
): Promise<ToolAnswer> {
  const {
    toolName,
    arguments: args,
    subject,
    summary,
    diff,
    mustAsk,
  } = read(given, readQuestion, 'question');
  const [hash, approvalId] = [await approvalHash(run, toolName, args, {}), run.config.runtime.id()];
  const short = (words: string | undefined, limit: number) => words && cap(wellFormedText(words), limit);
  const request: ApprovalRequestedEvent = {
    ...{
      type: 'approval_requested',
      approvalId,
      turn,
      index,
      callId: part.id,
      toolName,
      arguments: args,
      hash,
    },
    ...expiry(run),
    ...defined({ subject: short(subject, maxOutputBytes), diff: short(diff, maxOutputBytes) }),
    ...defined({ summary: short(summary, maxNoteBytes), mustAsk: short(mustAsk, maxNoteBytes) }),
  };
  if (run.isStopping || !(await run.log.record([request]))) return unasked;
  await decisions(run, [request]);
  const approval = run.state.calls.find((open) => open.turn === turn && open.index === index)?.approval;
  if (run.isStopping || approval?.request.approvalId !== approvalId) return unasked;
  if (approval.decision === 'allow') return { decision: 'allow' };
  return { decision: 'deny', message: approval.message ?? reasons[approval.decision ?? 'expired'] };
}

const reasons = {
  deny: 'A person denied this call.',
  expired: 'No decision was made in time.',
  superseded: 'A new message came first.',
};

/** Plans a call as the user decided. The hash binds the approval to what was shown. */
export async function planDecided(run: RunContext, job: Job, approval: Approval): Promise<Plan> {
  const { call } = job;
  if (approval.decision === undefined) return { ...job, type: 'ask' };
  if (approval.decision === 'allow') {
    const hash = await approvalHash(run, job.tool.name, job.given, approval.request);
    if (hash === approval.request.hash) return { ...job, type: 'run', mustAsk: approval.request.mustAsk };
    const message = 'The call was not run: its arguments differ from those that were approved.';
    return refusal(call, message, { denied: true });
  }
  return refusal(call, approval.message ?? reasons[approval.decision], { denied: true });
}

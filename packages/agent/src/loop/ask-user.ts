import type { ApprovalRequestedEvent } from '../events/event.ts';
import type { Approval } from '../events/state.ts';
import { openRequests } from '../events/state.ts';
import { defined } from '../values/defined.ts';
import { maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import type { Job, Plan } from './plan.ts';
import { refusal, subjectOf } from './plan.ts';
import type { Proposal } from './proposal.ts';
import { approvalHash, proposalOf, proposalsOf } from './proposal.ts';
import type { RunContext } from './run-context.ts';

/** Records approval requests and waits for the decisions. Returns false if no user is present or the run must stop. */
export async function askUser(run: RunContext, plans: readonly Plan[]): Promise<boolean> {
  const jobs = plans.filter((plan): plan is Job => plan.type !== 'answer');
  const isFresh = ({ type, call }: Job) => type === 'ask' && call.approval === undefined;
  const last = jobs.findLastIndex(isFresh);
  const proposals = await proposalsOf(run, jobs.slice(0, last + 1));
  const requests = proposals.flatMap((proposal, at) => {
    const job = jobs[at];
    return job !== undefined && isFresh(job) ? [approvalRequest(run, job, proposal)] : [];
  });
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
  run.emit({ type: 'status', state: 'waiting' });
  const startClock = run.clock.hold();
  const open = openRequests(run.state).filter(({ index }) =>
    asking.some((plan) => plan.call.index === index),
  );
  await Promise.all(open.map((request) => run.decided(request)));
  startClock();
  return !run.isStopping;
}

/**
 * Returns the plan for a call that a user allowed, immediately before it runs. If the call would no longer do what was
 * shown, because a file has changed since then, the user is asked again, with what it would do now.
 * Undefined if the run stops or ends first.
 */
export async function confirmedPlan(run: RunContext, plan: Job): Promise<Plan | undefined> {
  let job = plan;
  for (;;) {
    const proposal = await proposalOf(run, job);
    if (proposal.shown.hash === job.call.approval?.request.hash)
      return { ...job, approved: proposal.changes };
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
    ...(run.config.approvalMs !== undefined && {
      expiresAt: run.config.runtime.now() + run.config.approvalMs,
    }),
    subject: cap(subjectOf(tool, valid), maxOutputBytes),
    ...defined({ mustAsk }),
    ...details,
  };
}

/** Plans a call as the user decided. The hash binds the approval to what was shown. */
export async function planDecided(run: RunContext, job: Job, approval: Approval): Promise<Plan> {
  const { call } = job;
  if (approval.decision === undefined) return { ...job, type: 'ask' };
  if (approval.decision === 'allow') {
    const hash = await approvalHash(run, job, approval.request);
    if (hash === approval.request.hash) return { ...job, type: 'run', mustAsk: approval.request.mustAsk };
    const message = 'The call was not run: its arguments are not the ones that were approved.';
    return refusal(call, message, { denied: true });
  }
  const reasons = {
    deny: 'A person denied this call.',
    expired: 'No decision was made in time.',
    superseded: 'A new message came first.',
  };
  return refusal(call, approval.message ?? reasons[approval.decision], { denied: true });
}

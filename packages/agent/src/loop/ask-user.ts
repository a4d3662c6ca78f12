import type { EventBody } from '../events/event.ts';
import type { Approval } from '../events/state.ts';
import { openRequests } from '../events/state.ts';
import type { Tool, ToolPreview } from '../interfaces/tool.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { sortedKeys } from '../values/json.ts';
import { maxNoteBytes, maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { Job, Plan } from './plan.ts';
import { refusal, subjectOf } from './plan.ts';
import type { RunContext } from './run-context.ts';

/** Records approval requests and waits for the decisions. Returns false if no user is present or the run must stop. */
export async function askUser(run: RunContext, plans: readonly Plan[]): Promise<boolean> {
  const asking = plans.filter((plan): plan is Job => plan.type === 'ask');
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
  return !run.isStopping;
}

async function approvalRequest(
  run: RunContext,
  { call, tool, given, valid, mustAsk }: Job,
): Promise<EventBody> {
  const { turn, index, part } = call;
  const hash = await approvalHash(run, tool.name, given);
  const preview = await previewOf(tool, valid);
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
    ...preview,
  };
}

async function previewOf(tool: Tool, args: Record<string, unknown>): Promise<ToolPreview> {
  try {
    const { summary, diff } = (await tool.preview?.(args)) ?? {};
    return {
      ...(summary !== undefined && { summary: cap(wellFormedText(summary), maxNoteBytes) }),
      ...(diff !== undefined && { diff: cap(wellFormedText(diff), maxOutputBytes) }),
    };
  } catch (thrown) {
    return { summary: cap(AgentError.from(thrown, 'tool').message, maxNoteBytes) };
  }
}

/** Plans a call as the user decided. The hash binds the approval to its tool and arguments. */
export async function planDecided(run: RunContext, job: Job, approval: Approval): Promise<Plan> {
  const { call, tool, given } = job;
  if (approval.decision === undefined) return { ...job, type: 'ask' };
  if (approval.decision === 'allow') {
    const hash = await approvalHash(run, tool.name, given);
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

function approvalHash(run: RunContext, toolName: string, args: Record<string, unknown>): Promise<string> {
  return run.config.runtime.digest(JSON.stringify([toolName, sortedKeys(args)]));
}

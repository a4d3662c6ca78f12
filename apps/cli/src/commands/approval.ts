import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText, visibleText } from '@cobbler/agent/events';
import type { RawOptions } from '../config/run-flags.ts';
import type { ServerLink } from '../server/server-link.ts';
import { linkToServer, refusalError } from '../server/server-link.ts';
import { jsonLine, visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

const advice = 'To list the waiting calls, run cobbler approve without an id.';

interface ServerApproval
  extends Omit<ApprovalRequestedEvent, 'type' | 'turn' | 'index' | 'callId' | 'expiresAt'> {
  readonly sessionId: string;
  readonly expiresAt?: string;
}

/**
 * Runs `cobbler approve ID` and `cobbler deny ID`: shows the waiting call and decides it. Without an id, lists the
 * waiting calls. Returns the exit code.
 * @throws UsageError if no waiting call matches the id, or several do.
 */
export async function answerApproval(
  decision: 'allow' | 'deny',
  id: string | undefined,
  options: RawOptions,
  io: Io,
): Promise<number> {
  const link = linkToServer(io.env, options['url']);
  const waiting = await listPending(link);
  if (id === undefined) return list(waiting, options['json'] === true, io);
  const approval = pick(waiting, id);
  io.stderr.write(`${describe(approval).join('\n')}\n`);
  const message = typeof options['message'] === 'string' ? options['message'] : undefined;
  const path = `/v1/sessions/${encodeURIComponent(approval.sessionId)}/approvals/${approval.approvalId}`;
  const details = decision === 'allow' ? { hash: approval.hash } : message === undefined ? {} : { message };
  const { status, json } = await link('POST', path, { decision, ...details });
  if (status !== 202) throw refusalError(status, json, advice);
  const word = decision === 'allow' ? 'allowed' : 'denied';
  io.stdout.write(`${word}: ${visible(approval.toolName)} in session ${approval.sessionId}\n`);
  return 0;
}

async function listPending(link: ServerLink): Promise<readonly ServerApproval[]> {
  const { status, json } = await link('GET', '/v1/approvals');
  if (status !== 200) throw refusalError(status, json, advice);
  return (json as { items: ServerApproval[] }).items;
}

function list(waiting: readonly ServerApproval[], isJson: boolean, io: Io): number {
  if (isJson) {
    io.stdout.write(waiting.map(jsonLine).join(''));
    return 0;
  }
  if (waiting.length === 0) io.stderr.write('No calls are waiting for approval.\n');
  for (const approval of waiting) io.stdout.write(`${describe(approval).join('\n')}\n`);
  return 0;
}

function pick(waiting: readonly ServerApproval[], id: string): ServerApproval {
  const found = waiting.filter(({ approvalId }) => approvalId.startsWith(id));
  const [one, other] = found;
  if (one === undefined) {
    throw UsageError.withCode(
      'no_approval',
      `No call with the id ${visible(id)} is waiting for approval.`,
      advice,
    );
  }
  if (other === undefined || one.approvalId === id) return one;
  const ids = found.map(({ approvalId }) => approvalId).join(', ');
  throw new UsageError(
    `Several waiting calls match ${visible(id)}.`,
    `Use more characters of the id: ${ids}`,
  );
}

/** Returns everything about a call, escaped so that nothing in it can control the terminal or hide. */
function describe(approval: ServerApproval): string[] {
  const { approvalId, toolName, sessionId, expiresAt } = approval;
  const until = expiresAt === undefined ? '' : `, until ${expiresAt}`;
  // The first line of a call is its tool, which is in the head.
  const lines = approvalText(approval)
    .split('\n')
    .slice(approval.limit === undefined ? 1 : 0);
  const head = `${approvalId}  ${visibleText(toolName)}  session ${sessionId}${until}`;
  return [head, ...lines.map((line) => `  ${line}`)];
}

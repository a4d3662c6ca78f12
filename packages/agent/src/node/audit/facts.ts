import type { Event } from '../../events/event.ts';
import { defined } from '../../values/defined.ts';
import { sortedKeys } from '../../values/json.ts';
import type { AuditFact } from './record.ts';
import { textDigest } from './record.ts';

/**
 * Returns what the audit log records about a stored event: questions, decisions, and calls of tools that are not `read`.
 * Events that a fork copied happened in another session.
 */
export function auditFacts(
  sessionId: string,
  event: Event,
  isRead: (toolName: string) => boolean,
): AuditFact[] {
  if (event.inherited === true) return [];
  const { time, runId: run, user } = event;
  const place = { time, session: sessionId, run, ...defined({ user }) };
  switch (event.type) {
    case 'approval_requested': {
      const { approvalId, toolName: tool, hash, limit } = event;
      return [{ kind: 'approval', ...place, approvalId, tool, hash, ...defined({ limit: limit?.amount }) }];
    }
    case 'approval_decided': {
      const { approvalId, decision, by } = event;
      return [{ kind: 'decision', ...place, approvalId, decision, ...defined({ by }) }];
    }
    case 'tool_started': {
      const { callId, toolName: tool } = event;
      if (isRead(tool)) return [];
      const hash = textDigest(JSON.stringify(sortedKeys(event.arguments)));
      return [{ kind: 'call', ...place, callId, tool, status: 'started', hash }];
    }
    case 'tool_result': {
      const { callId, toolName: tool, denied, notRun, isError, content } = event;
      if (isRead(tool) && denied !== true) return [];
      const ended = isError ? 'failed' : 'done';
      const status = denied === true ? 'denied' : notRun === true ? 'not_run' : ended;
      return [{ kind: 'call', ...place, callId, tool, status, hash: textDigest(JSON.stringify(content)) }];
    }
    default:
      return [];
  }
}

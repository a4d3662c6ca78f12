import type { Event } from '../events/event.ts';
import { defined } from '../values/defined.ts';
import type { Reader } from '../values/input.ts';
import { listOf, when } from '../values/input.ts';
import { isObject, sortedKeys } from '../values/json.ts';
import type { AuditFact } from './record.ts';

/** Reads stored events, of which the log uses only a few fields. */
export const readEvents: Reader<readonly Event[]> = listOf(
  when<Event>((event) => isObject(event) && typeof event['type'] === 'string', 'an event'),
);

/** Returns the content of a call, of which its record has only the digest: the arguments or the output. */
export function contentOf(event: Event): string {
  if (event.type === 'tool_started') return JSON.stringify(sortedKeys(event.arguments));
  return event.type === 'tool_result' ? JSON.stringify(event.content) : '';
}

/**
 * Returns what the audit log records about a stored event: questions, decisions, and calls of tools that are not `read`.
 * Events that a fork copied happened in another session.
 * @param digest returns the SHA-256 of the content of a call.
 */
export function auditFacts(
  sessionId: string,
  event: Event,
  isRead: (toolName: string) => boolean,
  digest: (content: string) => string,
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
      return [{ kind: 'call', ...place, callId, tool, status: 'started', hash: digest(contentOf(event)) }];
    }
    case 'tool_result': {
      const { callId, toolName: tool, denied, notRun, isError } = event;
      if (isRead(tool) && denied !== true) return [];
      const ended = isError ? 'failed' : 'done';
      const status = denied === true ? 'denied' : notRun === true ? 'not_run' : ended;
      return [{ kind: 'call', ...place, callId, tool, status, hash: digest(contentOf(event)) }];
    }
    default:
      return [];
  }
}

import { AgentError } from '@cobbler/agent';
import { claudeName } from '../claude/claude-environment.ts';
import { ClaudeStream } from '../claude/claude-stream.ts';
import type { BackendEvent, End } from '../events/backend-event.ts';
import { fieldsOf } from '../events/fields.ts';
import { isMalformed } from '../events/garbled.ts';
import { activityText } from '../session-agent/activity-text.ts';
import type { ExecuteCallbacks } from '../session-agent/session-agent.ts';
import { quietly, toolActivity } from '../session-agent/session-agent.ts';
import { planIn } from './plan-mode.ts';

/** The outcome of one attempt at a prompt. */
export interface TurnResult {
  readonly end: End;
  readonly sessionId?: string;
  readonly toolsUsed: readonly string[];
  /** The last text from the model. */
  readonly text: string;
  /** The plan that the model submitted. */
  readonly plan: string;
}

/**
 * Reads the messages of the SDK until its result and awaits the callback for each. The SDK throws after every result
 * that is an error, so an exception counts only if there was no result.
 */
export async function readTurn(
  messages: AsyncIterable<unknown>,
  callbacks: ExecuteCallbacks,
  onResult: () => void,
): Promise<TurnResult> {
  const seen: TurnProgress = { toolsUsed: [], text: '', plan: '' };
  const stream = new ClaudeStream();
  try {
    for await (const message of messages) {
      for (const event of stream.message(fieldsOf(message))) await take(event, seen, callbacks);
      if (seen.end !== undefined) onResult();
    }
  } catch (thrown) {
    seen.end ??= thrownEnd(thrown);
  }
  return { ...seen, end: seen.end ?? thrownEnd(new Error('Claude Code exited before reporting a result.')) };
}

interface TurnProgress {
  end?: End;
  sessionId?: string;
  toolsUsed: string[];
  text: string;
  plan: string;
}

async function take(event: BackendEvent, seen: TurnProgress, callbacks: ExecuteCallbacks): Promise<void> {
  if (seen.end?.ok && isMalformed(event)) seen.end = event;
  if (seen.end !== undefined) return;
  if (event.type === 'session') seen.sessionId = event.id;
  if (event.type === 'end') seen.end = event;
  if (event.type === 'result') await quietly(() => callbacks.onToolActivity?.(null));
  if (event.type !== 'part') return;
  const { part } = event;
  if (part.type === 'text' && part.text !== '') {
    seen.text = part.text;
    await quietly(() => callbacks.onTextChunk?.(part.text));
  }
  if (part.type !== 'tool_call') return;
  seen.toolsUsed.push(part.toolName);
  if (part.toolName === 'ExitPlanMode') seen.plan = planIn(part.arguments);
  const activity = toolActivity(part.toolName, activityText(part.toolName, part.arguments));
  await quietly(() => callbacks.onToolActivity?.(activity));
}

function thrownEnd(thrown: unknown): End {
  const { message } = AgentError.from(thrown);
  return {
    type: 'end',
    ok: false,
    error: { kind: 'agent', code: 'sdk_failed', message, provider: claudeName },
  };
}

/**
 * Returns true if the conversation is lost: Claude Code reports it, or it failed without doing anything (requirement
 * S1.10).
 */
export function isStale({ end }: TurnResult): boolean {
  return !end.ok && (end.stale === true || (end.turns === 0 && end.error?.status === undefined));
}

/** Pattern of a transient failure without a status (requirement S1.11). */
const words = /500|529|api_error|overloaded|rate_limit/i;

/** The message for users if such a failure persists. */
export const friendlyText = 'The AI service is temporarily unavailable. Please try again in a moment.';

/** Returns true if a retry may succeed, by the status if there is one. */
export function isTransient({ ok, error, text = '' }: End): boolean {
  if (ok || error === undefined) return false;
  if (error.status !== undefined || error.kind === 'limit' || error.kind === 'aborted')
    return error.retryable === true;
  return error.kind === 'network' || words.test(text === '' ? error.message : text);
}

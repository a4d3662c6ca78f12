import { AgentError } from '@cobbler/agent';
import type { CauseSummary } from '@cobbler/agent/values';
import { defined } from '@cobbler/agent/values';

/** Telegram's description of a rejected request. */
export interface Refusal {
  readonly status: number;
  readonly description: string;
  readonly retryAfterMs?: number;
  /** The new id of the chat. */
  readonly migratedTo?: string;
}

const provider = 'telegram';

/** Error codes of connections that were never established, so nothing was sent. */
const neverConnected: ReadonlySet<string> = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EADDRNOTAVAIL',
  'ERR_INVALID_URL',
  'UND_ERR_CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'ERR_TLS_CERT_ALTNAME_INVALID',
]);

const gone =
  /chat not found|user not found|peer_id_invalid|user is deactivated|chat was upgraded|chat was deleted|bot was kicked/i;

/** Returns the error for a request that Telegram rejected. */
export function rejectionError(method: string, refusal: Refusal): AgentError {
  const { status, description } = refusal;
  const message = `Telegram rejected ${method} (${status}: ${description}).`;
  if (status === 429) return tooMany(message, refusal);
  if (status === 401 || (status === 404 && !/method/i.test(description)))
    return failure('auth', 'bot_token', `${message} Check the bot token: @BotFather can show it to you.`, {
      status,
    });
  if (status === 403 || (status === 400 && gone.test(description))) {
    const moved = refusal.migratedTo === undefined ? '' : ` The chat has moved to ${refusal.migratedTo}.`;
    return failure('invalid', 'chat_gone', `${message} No message can be sent to this chat.${moved}`, {
      status,
    });
  }
  if (status === 409) return conflict(message);
  if (status >= 500)
    return failure('network', 'not_done', `${message} Nothing was done.`, { retryable: true, status });
  return failure('invalid', 'request_refused', message, { status });
}

function tooMany(message: string, { retryAfterMs }: Refusal): AgentError {
  return failure('rate_limit', 'rate_limited', message, {
    retryable: true,
    status: 429,
    ...defined({ retryAfterMs }),
  });
}

function conflict(message: string): AgentError {
  if (/webhook/i.test(message)) {
    const what = `${message} This bot has a webhook: delete the webhook to receive updates by polling.`;
    return failure('invalid', 'webhook_set', what, { status: 409 });
  }
  const what = `${message} Another process is receiving this bot's updates: stop it, or use a separate bot.`;
  return failure('invalid', 'other_poller', what, { status: 409 });
}

/** Returns the error for a call without a complete response, which may have taken effect. */
export function maybeSentError(
  method: string,
  what: string,
  kind: 'network' | 'timeout' | 'aborted',
  cause?: CauseSummary,
): AgentError {
  const message = `${what} The outcome of ${method} is unknown.`;
  return failure(kind, 'maybe_sent', message, { ...defined({ cause }) });
}

/** Returns the error for a call that had no effect, or that can be repeated safely. */
export function retryableError(what: string, kind: 'network' | 'timeout', cause?: CauseSummary): AgentError {
  return failure(kind, 'not_done', what, { retryable: true, ...defined({ cause }) });
}

/** Returns true if a fetch failed before any part of the request was sent. */
export function isUnsent(error: unknown): boolean {
  let link = error;
  for (let depth = 0; depth < 4 && typeof link === 'object' && link !== null; depth += 1) {
    if ('code' in link && typeof link.code === 'string' && neverConnected.has(link.code)) return true;
    link = 'cause' in link ? link.cause : undefined;
  }
  return false;
}

function failure(
  kind: AgentError['kind'],
  code: string,
  message: string,
  rest: { status?: number; retryable?: boolean; retryAfterMs?: number; cause?: CauseSummary },
): AgentError {
  return new AgentError({ kind, code, message, provider, ...rest });
}

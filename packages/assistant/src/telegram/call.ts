import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';
import type { CauseSummary } from '@cobbler/agent/values';
import type { Refusal } from './failure.ts';
import { isUnsent, maybeSentError, rejectionError, retryableError } from './failure.ts';

export interface CallerOptions {
  readonly token: string;
  /** Address without a slash at the end. */
  readonly apiRoot: string;
  readonly runtime: Runtime;
  /** Time limit for one call, in milliseconds; a long poll adds its own time. */
  readonly timeoutMs: number;
}

/** Makes one call and returns its result, without retries. Its errors never contain the token. */
export type Caller = (method: string, payload: object, signal?: AbortSignal) => Promise<unknown>;

/** Methods that have an effect each time they are called. All others can be repeated. */
const notRepeatable: ReadonlySet<string> = new Set(['sendMessage', 'sendDocument']);

/** Status codes of gateways that may have passed the request on. */
const passedOn: ReadonlySet<number> = new Set([502, 504]);

/** Pattern of a server's message about calls that it dropped during its shutdown. */
const dropped = /restart|abort/i;

export function caller(options: CallerOptions): Caller {
  const { token, apiRoot, runtime, timeoutMs } = options;
  const hide = hider(token);
  return async (method, payload, signal) => {
    if (signal?.aborted === true)
      throw new AgentError({
        kind: 'aborted',
        code: 'cancelled',
        message: `${method} was cancelled before it was sent.`,
      });
    const control = new AbortController();
    const gaveUp = Promise.withResolvers<never>();
    const giveUp = (kind: 'timeout' | 'aborted', what: string) => {
      gaveUp.reject(interrupted(method, kind, what));
      control.abort();
    };
    const onAbort = () => giveUp('aborted', `${method} was cancelled.`);
    const ms = timeoutMs + pollMs(payload);
    const cancelTimer = runtime.timer(ms, () =>
      giveUp('timeout', `Telegram did not respond to ${method} within ${ms} ms.`),
    );
    signal?.addEventListener('abort', onAbort, { once: true });
    const exchange = request(runtime, `${apiRoot}/bot${token}/${method}`, payload, control.signal);
    exchange.catch(() => {});
    try {
      const { status, body } = await Promise.race([exchange, gaveUp.promise]);
      return resultOf(method, status, body, hide);
    } catch (error) {
      throw AgentError.is(error) ? error : responseError(method, error, hide);
    } finally {
      cancelTimer();
      signal?.removeEventListener('abort', onAbort);
    }
  };
}

async function request(
  runtime: Runtime,
  url: string,
  payload: object,
  signal: AbortSignal,
): Promise<{ readonly status: number; readonly body: unknown }> {
  const response = await runtime.fetch(url, {
    method: 'POST',
    ...bodyOf(payload),
    // A redirect does not come from Telegram, and its target must not receive the token.
    redirect: 'manual',
    signal,
  });
  const text = await response.text();
  return { status: response.status, body: parseJson(text) };
}

/** Returns the body as JSON, or as a form if it contains a file. */
function bodyOf(payload: object): Pick<RequestInit, 'headers' | 'body'> {
  const fields = Object.entries(payload);
  if (!fields.some(([, value]) => value instanceof File))
    return { headers: { 'content-type': 'application/json' }, body: JSON.stringify(payload) };
  const form = new FormData();
  for (const [name, value] of fields) {
    if (value instanceof File) form.append(name, value, value.name);
    else if (value !== undefined)
      form.append(name, typeof value === 'string' ? value : JSON.stringify(value));
  }
  return { body: form };
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function resultOf(method: string, status: number, body: unknown, hide: (text: string) => string): unknown {
  const answer = isObject(body) ? body : undefined;
  if (answer?.['ok'] === true && status < 300 && 'result' in answer) return answer['result'];
  if (answer?.['ok'] === false) {
    const refusal = refusalOf(status, answer, hide);
    if (refusal.status >= 500 && dropped.test(refusal.description))
      throw unknown(method, `Telegram responded with status ${refusal.status}: ${refusal.description}.`);
    throw rejectionError(method, refusal);
  }
  if (status < 300) throw unknown(method, `The response to ${method} did not come from Telegram.`);
  if (passedOn.has(status)) throw unknown(method, `A gateway responded to ${method} with status ${status}.`);
  throw rejectionError(method, { status, description: 'no message from Telegram' });
}

function refusalOf(status: number, answer: Record<string, unknown>, hide: (text: string) => string): Refusal {
  const parameters = isObject(answer['parameters']) ? answer['parameters'] : {};
  const { retry_after: wait, migrate_to_chat_id: migratedTo } = parameters;
  return {
    status: typeof answer['error_code'] === 'number' ? answer['error_code'] : status,
    description: hide(String(answer['description'] ?? 'no reason given')).slice(0, 500),
    ...(typeof wait === 'number' && Number.isFinite(wait) && { retryAfterMs: Math.max(wait, 0) * 1000 }),
    ...((typeof migratedTo === 'number' || typeof migratedTo === 'string') && {
      migratedTo: String(migratedTo),
    }),
  };
}

function unknown(method: string, what: string, cause?: CauseSummary): AgentError {
  return notRepeatable.has(method)
    ? maybeSentError(method, what, 'network', cause)
    : retryableError(what, 'network', cause);
}

function interrupted(method: string, kind: 'timeout' | 'aborted', what: string): AgentError {
  if (notRepeatable.has(method)) return maybeSentError(method, what, kind);
  if (kind === 'timeout') return retryableError(what, kind);
  return new AgentError({ kind: 'aborted', code: 'cancelled', message: what });
}

function responseError(method: string, error: unknown, hide: (text: string) => string): AgentError {
  const { name, message, code } = AgentError.from(error).cause ?? { name: 'Error', message: 'fetch failed' };
  const cause: CauseSummary = {
    name: hide(name),
    message: hide(message),
    ...(code !== undefined && { code: hide(code) }),
  };
  if (isUnsent(error))
    return retryableError(`Telegram is unreachable; ${method} was not sent.`, 'network', cause);
  return unknown(method, `The connection was lost during ${method}.`, cause);
}

/** Returns a function that removes the token from a text, even if it is URL-encoded. */
function hider(token: string): (text: string) => string {
  const secret = token.slice(token.indexOf(':') + 1);
  const forms = [token, encodeURIComponent(token), secret].filter((form) => form !== '');
  return (text) => forms.reduce((hidden, form) => hidden.replaceAll(form, '<token>'), text);
}

/** Returns the time that a long poll waits, which is in its payload. */
function pollMs(payload: object): number {
  return 'timeout' in payload && typeof payload.timeout === 'number' ? payload.timeout * 1000 : 0;
}

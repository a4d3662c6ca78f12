import { callable, read, record, text, when } from '@cobbler/agent/input';
import { secretMatches } from './secret.ts';

/** Maximum size of the body of an update in bytes; updates of Telegram are far smaller. */
const maxBytes = 1_048_576;

/** A request to a webhook address, for {@link acceptUpdate}. */
export interface UpdateDelivery {
  /** The secret that was registered with `setWebhook`. */
  readonly secret: string;
  /** The header `X-Telegram-Bot-Api-Secret-Token` of the request. */
  readonly given: string | null | undefined;
  /** The header `Content-Length` of the request. */
  readonly length: string | null | undefined;
  /** The body. It is read only if the secret matches, and at most 1 MiB of it. */
  readonly body: AsyncIterable<Uint8Array> | null;
  /** Resolves when the update is stored durably or can be ignored; throws if Telegram should send it again. */
  readonly onUpdate: (update: unknown) => Promise<void>;
}

/** The HTTP response to a delivery: its status, and the reason for a log or a body. */
export interface UpdateResponse {
  readonly status: 200 | 400 | 401 | 413 | 503;
  readonly reason: string;
}

const header = when<string | null>(
  (value) => value === null || typeof value === 'string',
  'a string or null',
);

const readDelivery = record<UpdateDelivery>(
  {
    secret: text,
    given: header,
    length: header,
    body: when(
      (value) => value === null || (typeof value === 'object' && Symbol.asyncIterator in (value ?? {})),
      'an async iterable of bytes, or null',
    ),
    onUpdate: callable,
  },
  ['secret', 'body', 'onUpdate'],
);

const readChunk = when<Uint8Array>((value) => value instanceof Uint8Array, 'a Uint8Array');

/**
 * Accepts an update that Telegram delivers to a webhook, and returns the response: 200 once `onUpdate` has resolved,
 * so that Telegram drops the update, or 503 if it failed, so that Telegram sends the update again. Other responses: 401
 * without the secret, 413 if the body is too large, 400 if it is not JSON.
 *
 * @throws AgentError `invalid` for an invalid delivery; what reading the body throws.
 */
export async function acceptUpdate(delivery: UpdateDelivery): Promise<UpdateResponse> {
  const request = read(delivery, readDelivery, 'delivery');
  const { secret, given, onUpdate } = request;
  if (!(await secretMatches(given, secret)))
    return { status: 401, reason: given == null ? 'missing secret' : 'wrong secret' };
  const body = await boundedText(request);
  if (body === undefined) return { status: 413, reason: 'too large' };
  let update: unknown;
  try {
    update = JSON.parse(body);
  } catch {
    return { status: 400, reason: 'not JSON' };
  }
  try {
    await onUpdate(update);
  } catch {
    return { status: 503, reason: 'could not be stored' };
  }
  return { status: 200, reason: 'taken' };
}

/** Reads the body; undefined if it is too large. The excess is not read. */
async function boundedText({ body, length }: UpdateDelivery): Promise<string | undefined> {
  if (Number(length ?? 0) > maxBytes) return undefined;
  const decoder = new TextDecoder();
  let bytes = 0;
  let whole = '';
  for await (const given of body ?? []) {
    const chunk = read(given, readChunk, 'delivery.body');
    bytes += chunk.length;
    if (bytes > maxBytes) return undefined;
    whole += decoder.decode(chunk, { stream: true });
  }
  return whole + decoder.decode();
}

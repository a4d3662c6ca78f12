import type { TransportRequest } from '../provider/wire/transport.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { Redaction } from './redaction.ts';

/** Base64 that is longer than this says nothing to a reader and is written as its fingerprint. */
const maxMediaLength = 1024;

const media = /^[A-Za-z0-9+/_-]+={0,2}$/;

/**
 * A request as it is written down and compared: path and body. Headers stay out, because among them are keys
 * under names that nobody can list; the host stays out, because it may be another on the next day.
 */
export async function requestContent(
  request: TransportRequest,
  digest: (text: string) => Promise<string>,
): Promise<JsonObject> {
  const POST = pathOf(request.url);
  const text = textOf(request.body);
  const body = bodyOf(text);
  return body === undefined
    ? { POST, text }
    : { POST, ...((await fingerprinted(body, digest)) as JsonObject) };
}

/**
 * The request without secrets in its body: what the model does not get it cannot repeat, one token at a time.
 * Keys in headers stay, or the service would refuse.
 */
export function withoutSecrets(request: TransportRequest, redaction: Redaction): TransportRequest {
  const text = textOf(request.body);
  const body = redaction.finds(text) ? bodyOf(text) : undefined;
  if (body === undefined) return request;
  return { ...request, body: [new TextEncoder().encode(JSON.stringify(redaction.object(body)))] };
}

/** Values of a query may be keys, so only its names are kept. */
function pathOf(url: string): string {
  const { pathname, searchParams } = new URL(url);
  const names = [...searchParams.keys()].join('&');
  return names === '' ? pathname : `${pathname}?${names}`;
}

function textOf(body: readonly Uint8Array[]): string {
  const decoder = new TextDecoder();
  return body.map((bytes) => decoder.decode(bytes, { stream: true })).join('') + decoder.decode();
}

function bodyOf(text: string): JsonObject | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? (parsed as JsonObject) : undefined;
  } catch {
    return undefined;
  }
}

async function fingerprinted(value: Json, digest: (text: string) => Promise<string>): Promise<Json> {
  if (typeof value === 'string') {
    if (value.length <= maxMediaLength || !media.test(value)) return value;
    return `(${value.length} characters of base64, sha256 ${await digest(value)})`;
  }
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return await Promise.all(value.map((item) => fingerprinted(item, digest)));
  const fields: JsonObject = {};
  for (const [name, field] of Object.entries(value)) fields[name] = await fingerprinted(field, digest);
  return fields;
}

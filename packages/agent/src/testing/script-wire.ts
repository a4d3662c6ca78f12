import type { Capabilities, StopReason } from '../interfaces/agent.ts';
import { dropUnread } from '../provider/wire/payload.ts';
import type { BlockKey, Fault, FaultKind, ResponseSink, Wire } from '../provider/wire/wire.ts';
import type { Json, JsonObject } from '../values/json.ts';
import { isObject } from '../values/json.ts';
import type { Usage } from '../values/usage.ts';

/** Configuration of a scripted service. */
export interface ScriptWireConfig {
  readonly baseURL: string;
  readonly apiKey: string;
}

/** Default provider name of scripted agents. */
export const scriptProvider = 'scripted';

/** Capabilities of the scripted wire: all of them. */
export const scriptCapabilities: Capabilities = {
  files: ['*/*'],
  reasoning: true,
  parallelCalls: true,
  output: 'native',
  sampling: true,
  cacheUsage: true,
};

/**
 * Creates the wire of scripted agents, which uses the internal types as JSON, so that nothing is lost in conversion. A
 * request contains the normalized history, and a response consists of calls of {@link ResponseSink} as server-sent
 * events.
 */
export function scriptWire({ baseURL, apiKey }: ScriptWireConfig, provider: string = scriptProvider): Wire {
  return {
    provider,
    framing: 'sse',
    endpoint: { url: `${baseURL}/ask`, headers: { authorization: `Bearer ${apiKey}` }, secrets: [apiKey] },
    envelope: (request) => ({ body: plain(request), turns: 'turns' }),
    turn: (turn) => [plain(turn)],
    read: readDelta,
    event: readPayload,
    fault: faultIn,
    requestIdHeader: 'x-request-id',
    rateLimitHeaders: ['x-limit-*'],
  };
}

/** Histories and requests contain only JSON values, but their types do not say so. */
function plain(value: object): JsonObject {
  return value as JsonObject;
}

const reasons: ReadonlyMap<unknown, StopReason> = new Map<unknown, StopReason>(
  (['complete', 'tool_use', 'max_tokens', 'refusal', 'pause', 'context_full'] as const).map((reason) => [
    reason,
    reason,
  ]),
);

type Teller = (out: ResponseSink, at: BlockKey, payload: Record<string, unknown>) => void;

const tellers: Readonly<Record<string, Teller>> = {
  begin: (out, at, { kind }) => out.begin(at, textOf(kind) === 'reasoning' ? 'reasoning' : 'text'),
  text: (out, at, { delta }) => out.text(at, textOf(delta)),
  reasoning: (out, at, { delta }) => out.reasoning(at, textOf(delta)),
  seal: (out, at, { data }) => out.seal(at, data as Json),
  call: (out, at, { id, name }) => out.call(at, textOf(id ?? ''), textOf(name)),
  input: (out, at, { delta }) => out.input(at, textOf(delta)),
  close: (out, at) => out.close(at),
  usage: (out, _, { counts }) => out.usage(counts as Partial<Usage>),
  model: (out, _, { name }) => out.model(textOf(name)),
  end(out, _, { stop, model, counts }) {
    if (typeof model === 'string') out.model(model);
    if (isObject(counts)) out.usage(counts as Partial<Usage>);
    out.end(reasons.get(stop) ?? 'unknown');
  },
  fail: (out, _, { kind, message }) => out.fail({ kind: kind as FaultKind, message: textOf(message) }),
};

/** The fields of payloads with content; any other field would be lost. */
const fields = ['do', 'at', 'kind', 'delta', 'data', 'id', 'name', 'stop', 'model', 'counts', 'message'];

const usualDelta = /^\{"do":"text","at":(\d+),"delta":"([^"\\\p{Cc}]*)"\}$/u;

/** Reads a text delta in its usual spelling without parsing it, as the wires of real services do. */
function readDelta(text: string, out: ResponseSink): boolean {
  const [, at, delta = ''] = usualDelta.exec(text) ?? [];
  if (at === undefined) return false;
  out.text(Number(at), delta);
  return true;
}

function readPayload(payload: unknown, out: ResponseSink): void {
  if (typeof payload === 'string')
    return out.fail({ kind: 'broken', message: 'The scripted service sent an event that is not JSON.' });
  if (!isObject(payload)) return undefined;
  const { do: word, at } = payload;
  if (typeof word !== 'string' || !Object.hasOwn(tellers, word)) return undefined;
  dropUnread(word, payload, fields, out);
  // No block has the index -1.
  return tellers[word]?.(out, typeof at === 'number' ? at : -1, payload);
}

/** Returns the text. Anything else there would be lost, so it makes the response invalid. */
function textOf(value: unknown): string {
  if (typeof value !== 'string') throw new TypeError('a text of the response is not a string');
  return value;
}

function faultIn(status: number, body: string): Fault {
  try {
    return JSON.parse(body) as Fault;
  } catch {
    return { message: `The service responded with status ${status}: ${body.slice(0, 300)}` }; // For example from a proxy.
  }
}

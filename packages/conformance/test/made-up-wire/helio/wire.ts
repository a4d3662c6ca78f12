import { createHmac } from 'node:crypto';
import type { Agent, Capabilities, Json, StopReason } from '@cobbler/agent';
import type { Credentials, FaultKind, ResponseSink, Turn, Wire } from '@cobbler/agent/provider';
import { cachedCredentials, createAgent, dropUnread, isObject } from '@cobbler/agent/provider';
import type { AgentLink } from '../../../src/agent/setup/subject.ts';
import { FlashFramer } from './flashes.ts';

const able = { files: ['image/*'], reasoning: true, parallelCalls: true, sampling: true, cacheUsage: true };
const capabilities: Capabilities = { ...able, output: 'none' };

/** Returns an agent of the Helio service, as described in README.md. */
export function createHelio({
  baseURL,
  apiKey,
  model = 'mirror-2',
  currentKey,
  ...options
}: AgentLink): Agent {
  const wire = helio(`${baseURL}/mirrors/${encodeURIComponent(model)}/flash`, async () =>
    currentKey === undefined ? apiKey : await currentKey(),
  );
  return createAgent(wire, { ...options, model, capabilities });
}

/** Signs a request. */
export function proofOf(url: string, body: string | Uint8Array, key: string): string {
  const { host, pathname, search } = new URL(url);
  return createHmac('sha256', key).update(`POST ${host}${pathname}${search}\n`).update(body).digest('hex');
}

/** Returns an `authorize` function that signs with the current key. */
function signedWith(currentKey: () => Promise<string>): NonNullable<Wire['authorize']> {
  const keys = cachedCredentials(async () => ({ headers: {}, secrets: [await currentKey()] }));
  const keyOf = new WeakMap<Credentials, Credentials>();
  return async ({ rejected, ...request }) => {
    const refused = rejected && keyOf.get(rejected);
    const key = await keys({ ...request, ...(refused && { rejected: refused }) });
    const { secrets = [] } = key;
    const proof = proofOf(request.url, request.body(), secrets[0] ?? '');
    const signed = { headers: { 'x-helio-proof': proof }, secrets };
    keyOf.set(signed, key);
    return signed;
  };
}

const helio = (url: string, currentKey: () => Promise<string>): Wire => ({
  provider: 'helio',
  framing: { contentTypes: ['application/vnd.helio.flashes'], open: () => new FlashFramer() },
  endpoint: { url, headers: {} },
  authorize: signedWith(currentKey),
  envelope: ({ system, tools, toolChoice, maxTokens, temperature }) => ({
    turns: 'log',
    body: {
      orders: [...system],
      tools: tools.map((tool) => ({ ...tool })),
      mayCall: toolChoice === 'auto',
      most: maxTokens ?? null,
      glow: temperature ?? null,
    },
  }),
  turn: ({ side, parts }) => [{ by: side, parts: parts.map(pieceOf) }],
  event(payload, out) {
    const { type, ...fields } = isObject(payload) ? payload : {};
    if (typeof type !== 'string' || !Object.hasOwn(flashes, type)) return;
    dropUnread(type, fields, known, out);
    flashes[type]?.(out, typeof fields['at'] === 'number' ? fields['at'] : -1, fields as Fields);
  },
  ignored: {},
  fault(_status, body) {
    const { what, why } = JSON.parse(body);
    return { message: why, kind: faults.get(what) };
  },
});

function pieceOf(part: Turn['parts'][number]): Json {
  if (part.type === 'text') return ['words', part.text];
  if (part.type === 'reasoning') return ['musing', part.text, part.seal?.data ?? null];
  if (part.type === 'tool_call') return ['errand', part.id, part.toolName, part.arguments as Json];
  if (part.type === 'file') return ['picture', part.mediaType, part.data];
  if (part.type !== 'tool_result') return [];
  const texts = part.content.map((item) => (item.type === 'text' ? item.text : `[${item.data}]`));
  return ['brought', part.callId, texts.join(''), part.isError ? 'botched' : 'well'];
}

/** Stop reasons of the service. */
export const halts: ReadonlyMap<string, StopReason> = new Map([
  ['done', 'complete'],
  ['call', 'tool_use'],
  ['full', 'max_tokens'],
  ['no', 'refusal'],
]);

/** Error kinds of the service. */
export const faults: ReadonlyMap<string, FaultKind> = new Map([
  ['crowd', 'busy'],
  ['haste', 'rate_limit'],
  ['dark', 'agent'],
  ['wrong', 'invalid'],
  ['forged', 'auth'],
  ['no mirror', 'not_found'],
  ['too long', 'too_long'],
]);

type Fields = Record<'what' | 'why' | 'words' | 'seal' | 'id' | 'name', string> &
  Record<'read' | 'cached' | 'stored' | 'wrote' | 'mused', number>;

const known = [
  ...['at', 'what', 'why', 'words', 'seal', 'id', 'name'],
  ...['read', 'cached', 'stored', 'wrote', 'mused'],
];

const flashes: Record<string, (out: ResponseSink, at: number, fields: Fields) => void> = {
  rise: (out, at, { what }) => out.begin(at, what === 'reasoning' ? 'reasoning' : 'text'),
  text: (out, at, { words }) => out.text(at, words),
  reasoning: (out, at, { words }) => out.reasoning(at, words),
  wax: (out, at, { seal }) => out.seal(at, seal),
  call: (out, at, { id, name }) => out.call(at, id, name),
  needs: (out, at, { words }) => out.input(at, words),
  fall: (out, at) => out.close(at),
  halt: (out, _, { why }) => out.stop(halts.get(why) ?? 'unknown', why),
  bill(out, _, { read, cached, stored, wrote, mused }) {
    out.usage({
      ...{ inputTokens: read, cacheReadTokens: cached, cacheWriteTokens: stored },
      ...{ outputTokens: wrote, reasoningTokens: mused },
    });
    out.end();
  },
  fault: (out, _, { what, why }) => out.fail({ kind: faults.get(what) ?? 'invalid', message: why }),
};

import type { Agent, Capabilities, Json, StopReason } from '@cobbler/agent';
import type { FaultKind, ResponseSink, Turn, Wire } from '@cobbler/agent/provider';
import { createAgent } from '@cobbler/agent/provider';
import type { AgentLink } from '../../src/agent/setup/subject.ts';

const able = { files: ['image/*'], reasoning: true, parallelCalls: true, sampling: true, cacheUsage: true };
const capabilities: Capabilities = { ...able, output: 'none' };

/** Returns an agent of the Lantern service, as described in README.md. */
export function createLantern({ baseURL, apiKey, model = 'wick-3', ...options }: AgentLink): Agent {
  return createAgent(lantern(baseURL, apiKey), { ...options, model, capabilities });
}

export const lantern = (baseURL: string, pass: string): Wire => ({
  provider: 'lantern',
  framing: 'ndjson',
  endpoint: { url: `${baseURL}/v0/converse`, headers: { 'x-lantern-pass': pass }, secrets: [pass] },
  envelope: ({ model, system, tools, toolChoice, maxTokens, temperature }) => ({
    turns: 'talk',
    body: {
      engine: model,
      manner: [...system],
      deeds: tools.map(({ name, description, parameters }) => [name, description, parameters]),
      hands: toolChoice === 'none' ? 'tied' : 'free',
      ceiling: maxTokens ?? null,
      heat: temperature ?? null,
    },
  }),
  turn: ({ side, parts }) => [{ who: side === 'user' ? 'guest' : 'host', said: parts.map(pieceOf) }],
  event(payload, out) {
    const [word, ...rest] = Array.isArray(payload) ? payload : [];
    if (Object.hasOwn(lines, word)) lines[word]?.(out, ...(rest as never[]));
  },
  ignored: { hums: 'background music' },
  fault(_status, body, header) {
    const [word, what, message] = JSON.parse(body);
    if (word !== 'oops') throw new Error('The error does not start with "oops".');
    return { message, kind: oopses.get(what), retryAfterMs: Number(header('x-lantern-wait')) * 100 };
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
export const byes: ReadonlyMap<string, StopReason> = new Map([
  ['ok', 'complete'],
  ['deeds', 'tool_use'],
  ['full', 'max_tokens'],
  ['no', 'refusal'],
]);

/** Error kinds of the service. */
export const oopses: ReadonlyMap<string, FaultKind> = new Map([
  ['crowded', 'busy'],
  ['hasty', 'rate_limit'],
  ['broken', 'agent'],
  ['wrong', 'invalid'],
  ['stranger', 'auth'],
  ['no engine', 'not_found'],
  ['too long', 'too_long'],
]);

const at = (slot: unknown) => (typeof slot === 'number' ? slot : -1); // No block is at -1.

const lines: Record<string, (out: ResponseSink, ...line: never[]) => void> = {
  hail: (out, engine: string) => out.model(engine),
  hums: (out) => out.ignore('hums'),
  lit: (out, slot, kind: string) => out.begin(at(slot), kind === 'musing' ? 'reasoning' : 'text'),
  words: (out, slot, text: string) => out.text(at(slot), text),
  musing: (out, slot, text: string) => out.reasoning(at(slot), text),
  wax: (out, slot, seal: string) => out.seal(at(slot), seal),
  errand: (out, slot, plate: string, deed: string) => out.call(at(slot), plate, deed),
  needs: (out, slot, json: string) => out.input(at(slot), json),
  shut: (out, slot) => out.close(at(slot)),
  eaten(out, fresh: number, warm: number, stored: number, outputTokens: number, mused: number) {
    const input = { inputTokens: fresh + warm + stored, cacheReadTokens: warm, cacheWriteTokens: stored };
    out.usage({ ...input, outputTokens, reasoningTokens: mused });
  },
  bye: (out, how: string, engine: string) => [out.model(engine), out.end(byes.get(how), how)],
  oops: (out, what: string, why: string) => out.fail({ kind: oopses.get(what) ?? 'invalid', message: why }),
};

import type { ProviderTesting } from '@cobbler/agent/testing';
import { errorText, mockWire } from '@cobbler/agent/testing';
import { found } from '../testing.ts';
import { writeFlash } from './flashes.ts';
import { faults, halts, proofOf } from './wire.ts';

interface Body {
  readonly orders: readonly string[];
  readonly tools: readonly { name: string; description: string; parameters: unknown }[];
  readonly mayCall: boolean;
  readonly most: number | null;
  readonly glow: number | null;
  readonly log: readonly { readonly by: 'user' | 'assistant'; readonly parts: readonly string[][] }[];
}

/** The mock wire of the Helio service. */
export const helioTesting: ProviderTesting = mockWire<Body>({
  provider: 'helio',
  framing: { contentType: 'application/vnd.helio.flashes', frame: writeFlash },
  request: {
    path: '/mirrors/{model}/flash',
    isSigned: ({ url, headers, body }, key) => headers.get('x-helio-proof') === proofOf(url, body, key),
  },
  lacks: {
    'native-output': 'The service has no output schemas.',
    'model-name': 'A response does not name its model.',
    'whole-content': 'The service sends each word once.',
    'checked-text': 'A checksum covers the text, so a broken character breaks its frame.',
    pause: 'The service never pauses a response.',
    'context-full-stop': 'A conversation that is too long is rejected before the response starts.',
  },
  open: (at, block) => [
    block.type === 'call'
      ? { type: 'call', at, id: block.id, name: block.name }
      : { type: 'rise', at, what: block.type },
  ],
  delta: (at, words, { type }) => [{ type: type === 'call' ? 'needs' : type, at, words }],
  seal: (at, seal) => [{ type: 'wax', at, seal }],
  close: (at) => [{ type: 'fall', at }],
  end: ({ stop, usage }) => [
    { type: 'halt', why: errorText(halts, stop) ?? 'vanished' },
    {
      type: 'bill',
      ...{ read: usage.inputTokens, cached: usage.cacheReadTokens ?? 0, stored: usage.cacheWriteTokens ?? 0 },
      ...{ wrote: usage.outputTokens, mused: usage.reasoningTokens ?? 0 },
    },
  ],
  noise: () => [{ type: 'fog' }, {}, { type: 'mist', at: 0 }],
  unknown: () => [{ type: 'mist', at: 0, words: 'from afar' }],
  error: ({ kind, message, retryAfterMs = 0 }) => ({
    body: { what: errorText(faults, kind), why: message },
    headers: { 'retry-after-ms': String(retryAfterMs) },
  }),
  fail: ({ kind, message }) => [{ type: 'fault', what: errorText(faults, kind), why: message }],
  read: ({ orders, tools, mayCall, log, most, glow }) => ({
    model: '',
    system: orders,
    tools,
    toolChoice: mayCall ? 'auto' : 'none',
    turns: log.map(({ by, parts }) => ({ side: by, parts: parts.map(found) })),
    maxTokens: most,
    temperature: glow,
  }),
  refuse: ({ log }) =>
    log.every(({ by }, index) => by === (index % 2 === 0 ? 'user' : 'assistant')) ? undefined : 'Take turns.',
});

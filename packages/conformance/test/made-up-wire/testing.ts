import type { FoundPart, ProviderTesting } from '@cobbler/agent/testing';
import { errorText, mockWire } from '@cobbler/agent/testing';
import { byes, oopses } from './wire.ts';

type Body = Record<'engine' | 'hands', string> & { manner: string[]; ceiling: number; heat: number } & Talk;
type Talk = { deeds: [string, string, unknown][]; talk: { who: string; said: string[][] }[] };

const words = { text: 'words', reasoning: 'musing', call: 'needs' } as const;

export function found([kind, first = '', second = '', third]: readonly string[]): FoundPart {
  if (kind === 'words') return { type: 'text', text: first };
  if (kind === 'picture') return { type: 'file', mediaType: first, data: second };
  if (kind === 'musing') return { type: 'reasoning', text: first, seal: second };
  if (kind === 'errand') return { type: 'call', id: first, name: second, input: third };
  return { type: 'result', id: first, parts: [{ type: 'text', text: second }], isError: third === 'botched' };
}

export const lanternTesting: ProviderTesting = mockWire<Body>({
  provider: 'lantern',
  framing: 'ndjson',
  request: { path: '/v0/converse', key: { header: 'x-lantern-pass' } },
  lacks: {
    'native-output': 'The service has no output schemas.',
    'whole-content': 'The host says each word once.',
    pause: 'The service never pauses a response.',
    'context-full-stop': 'A conversation that is too long is rejected before the response starts.',
  },
  begin: ({ model }) => [['hail', model]],
  open: (at, block) => [
    block.type === 'call' ? ['errand', at, block.id, block.name] : ['lit', at, words[block.type]],
  ],
  delta: (at, text, { type }) => [[words[type], at, text]],
  seal: (at, seal) => [['wax', at, seal]],
  close: (at) => [['shut', at]],
  end({ model, stop, usage: { inputTokens, outputTokens, reasoningTokens, ...cache } }) {
    const { cacheReadTokens: warm = 0, cacheWriteTokens: stored = 0 } = cache;
    const eaten = ['eaten', inputTokens - warm - stored, warm, stored, outputTokens, reasoningTokens];
    return [eaten, ['bye', errorText(byes, stop) ?? 'vanished', model]];
  },
  noise: () => [[], ['hums', 0, 'a tune']],
  unknown: () => [['sings', 0, 'a song']],
  error: ({ kind, message, retryAfterMs = 0 }) => ({
    body: ['oops', errorText(oopses, kind), message],
    headers: { 'x-lantern-wait': String(retryAfterMs / 100) },
  }),
  read: ({ engine, manner, deeds, hands, talk, ceiling, heat }) => ({
    model: engine,
    system: manner,
    tools: deeds.map(([name, description, parameters]) => ({ name, description, parameters })),
    toolChoice: hands === 'tied' ? 'none' : 'auto',
    turns: talk.map(({ who, said }) => ({
      side: who === 'guest' ? 'user' : 'assistant',
      parts: said.map(found),
    })),
    maxTokens: ceiling,
    temperature: heat,
  }),
  refuse: ({ talk }) =>
    talk.every(({ who }, index) => who === (index % 2 === 0 ? 'guest' : 'host')) ? undefined : 'Take turns.',
});

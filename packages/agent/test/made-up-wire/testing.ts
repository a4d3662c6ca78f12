import type { ProviderTesting, ReadPart } from '../../src/testing/index.ts';

type Talk = readonly { readonly who: string; readonly said: readonly string[][] }[];
type Body = Readonly<Record<string, unknown>> & { deeds: [string, string, unknown][]; talk: Talk };

const words = { text: 'words', reasoning: 'musing', call: 'needs' } as const;
const byes: Record<string, string> = { complete: 'ok', tool_use: 'deeds', max_tokens: 'full', refusal: 'no' };
const whats: Record<string, string> = { overloaded: 'crowded', rate_limit: 'hasty', server: 'broken' };
const statuses: Record<string, number> = {
  crowded: 529,
  hasty: 429,
  broken: 500,
  refused_key: 401,
  not_found: 404,
};

function readPiece([kind, first = '', second = '', third]: readonly string[]): ReadPart {
  if (kind === 'words') return { type: 'text', text: first };
  if (kind === 'picture') return { type: 'image', mediaType: first, data: second };
  if (kind === 'musing') return { type: 'reasoning', text: first, seal: second };
  if (kind === 'errand') return { type: 'call', id: first, name: second, input: third };
  return { type: 'result', id: first, text: second, isError: third === 'botched' };
}

/** The inverse of the Lantern wire. */
export const lanternTesting: ProviderTesting = {
  provider: 'lantern',
  contentType: 'application/x-ndjson',
  lacks: {
    documents: 'A guest can show pictures but no papers.',
    'native-output': 'There is no way to ask for a shape of the answer.',
    pause: 'A host never asks to be continued.',
    'context-full-stop': 'A talk that is too long is refused, never broken off.',
  },
  begin: ({ model }) => [['hail', model]],
  line(step, { blocks, stop, usage }) {
    const { inputTokens, outputTokens, cacheReadTokens: warm = 0, cacheWriteTokens: stored = 0 } = usage;
    const eaten = [inputTokens - warm - stored, warm, stored, outputTokens, usage.reasoningTokens];
    if (step.type === 'end')
      return [
        ['eaten', ...eaten],
        ['bye', byes[stop] ?? 'vanished'],
      ];
    const block = blocks[step.at];
    if (block === undefined) return [];
    if (step.type === 'close') return [['shut', step.at]];
    if (step.type === 'seal') return [['wax', step.at, block.type === 'reasoning' && block.seal]];
    if (step.type === 'open' && block.type === 'call') return [['errand', step.at, block.id, block.name]];
    return [[words[block.type], step.at, step.type === 'delta' ? step.text : '']];
  },
  noise: () => [['beat'], ['hums', 0, 'a tune']],
  frame: (payload) => `${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n`,
  error({ type, message, retryAfterMs = 0 }, secret) {
    const what = whats[type] ?? type;
    const body = JSON.stringify(['oops', what, type === 'refused_key' ? `${message}: ${secret}` : message]);
    return { status: statuses[what] ?? 400, headers: { 'x-lantern-wait': String(retryAfterMs / 100) }, body };
  },
  fail: ({ type, message }) => [['oops', whats[type] ?? type, message]],
  read(body) {
    const { engine, manner, deeds, hands, talk, ceiling, heat } = body as Body;
    return {
      model: String(engine),
      system: (manner as string[]).join('\n\n'),
      tools: deeds.map(([name, description, parameters]) => ({ name, description, parameters })),
      toolChoice: hands === 'tied' ? 'none' : 'auto',
      turns: talk.map(({ who, said }) => ({
        side: who === 'guest' ? 'user' : 'assistant',
        parts: said.map(readPiece),
      })),
      ...(typeof ceiling === 'number' && { maxTokens: ceiling }),
      ...(typeof heat === 'number' && { temperature: heat }),
    };
  },
  refuse(body) {
    const isFair = (body as Body).talk.every(
      ({ who }, index) => who === (index % 2 === 0 ? 'guest' : 'host'),
    );
    return isFair ? undefined : { status: 400, headers: {}, body: '["oops","wrong","Take turns."]' };
  },
};

import type { Turn } from '../provider/wire/wire.ts';
import type { AssistantPart } from '../values/message.ts';
import { scriptProvider } from './script-wire.ts';
import type { FoundPart } from './service/inverse.ts';
import { mockWire } from './service/inverse.ts';
import type { ProviderTesting, ReadRequest } from './service/provider-testing.ts';

/** The mock service of the scripted wire: the simplest one, and an example for others. */
export const scriptTesting: ProviderTesting = mockWire<Body>({
  provider: scriptProvider,
  framing: 'sse',
  head: {
    headers: {
      'x-request-id': 'request-1',
      'x-limit-requests': '40',
      'x-limit-tokens': '90000',
      'x-other': 'no',
    },
    requestId: 'request-1',
    rateLimits: { 'x-limit-requests': '40', 'x-limit-tokens': '90000' },
  },
  request: { path: '/ask', key: { header: 'authorization', prefix: 'Bearer ' } },
  lacks: { 'whole-content': 'The scripted service sends each chunk once and repeats nothing.' },
  begin: ({ model, usage }) => [
    { do: 'model', name: model },
    { do: 'usage', counts: { inputTokens: usage.inputTokens } },
  ],
  open: (at, block) => [
    block.type === 'call'
      ? { do: 'call', at, id: block.id, name: block.name }
      : { do: 'begin', at, kind: block.type },
  ],
  delta: (at, text, { type }) => [{ do: type === 'call' ? 'input' : type, at, delta: text }],
  seal: (at, seal) => [{ do: 'seal', at, data: seal }],
  close: (at) => [{ do: 'close', at }],
  end: ({ usage, stop, model }) => [{ do: 'end', stop, model, counts: usage }],
  noise: () => [{ do: 'ping' }, { do: 'dance', at: 0 }, { note: 7 }, []],
  unknown: () => [{ do: 'dance', at: 0, delta: 'from the future' }, { note: 'no word' }, ['text']],
  error: (fault) => ({ body: fault }),
  fail: (fault) => [{ do: 'fail', kind: fault.kind, message: fault.message }],
  read: ({ turns, ...rest }) => ({
    ...rest,
    turns: turns.map(({ side, parts }) => ({ side, parts: parts.flatMap(foundIn) })),
  }),
  refuse({ turns }) {
    const problem = Array.isArray(turns) ? problemOf(turns) : 'there are no turns';
    return problem === undefined ? undefined : `Bad history: ${problem}.`;
  },
});

/** The body of a request of the scripted wire, with its turns. */
interface Body extends Omit<ReadRequest, 'system' | 'turns'> {
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
}

function foundIn(part: Turn['parts'][number]): FoundPart[] {
  switch (part.type) {
    case 'tool_result':
      return [
        { type: 'result', id: part.callId, parts: part.content.flatMap(foundIn), isError: part.isError },
      ];
    case 'reasoning':
      return [{ type: 'reasoning', text: part.text, ...(part.seal && { seal: String(part.seal.data) }) }];
    case 'tool_call':
      return [{ type: 'call', id: part.id, name: part.toolName, input: part.arguments }];
    case 'opaque':
      return [];
    default:
      return [part];
  }
}

/** Checks the rules for a history that all services have. */
function problemOf(turns: readonly Turn[]): string | undefined {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [index, turn] of turns.entries()) {
    if (turn.side !== (index % 2 === 0 ? 'user' : 'assistant')) return `turn ${index} has the wrong role`;
    if (turn.parts.length === 0) return `turn ${index} is empty`;
    if (turn.parts.some((part) => part.type === 'text' && part.text === ''))
      return `turn ${index} contains empty text`;
    if (turn.side === 'user') {
      const results = turn.parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : []));
      const first = turn.parts.slice(0, results.length);
      if (first.some((part) => part.type !== 'tool_result'))
        return `turn ${index} has results after other parts`;
      if (results.join() !== open.join())
        return `turn ${index} contains results for ${results.join()} instead of ${open.join()}`;
      open = [];
    } else {
      open = callIds(turn.parts);
      if (open.some((id) => seen.has(id)) || new Set(open).size < open.length)
        return `turn ${index} repeats a call id`;
      for (const id of open) seen.add(id);
    }
  }
  return open.length > 0 ? `there is no result for ${open.join()}` : undefined;
}

function callIds(parts: readonly AssistantPart[]): string[] {
  return parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
}

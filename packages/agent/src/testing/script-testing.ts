import type { AssistantPart } from '../message.ts';
import type { Turn } from '../provider/wire.ts';
import type {
  ProviderTesting,
  ReadPart,
  ReadRequest,
  ScriptAnswer,
  ScriptBlock,
  ScriptFault,
  Step,
  WireError,
} from './provider-testing.ts';
import type { ScriptFailure } from './script-wire.ts';
import { scriptProvider } from './script-wire.ts';

/** The inverse of the scripted wire: the simplest there can be, and the pattern for others. */
export const scriptTesting: ProviderTesting = {
  provider: scriptProvider,
  contentType: 'text/event-stream',
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
  lacks: {},
  begin: ({ model, usage }) => [
    { do: 'model', name: model },
    { do: 'usage', counts: { ...usage, outputTokens: 1 } },
  ],
  line: (step, answer) => (step.type === 'end' ? endOf(answer) : lineOf(step, answer.blocks[step.at])),
  noise: () => [{ do: 'ping' }, { do: 'dance', at: 0, delta: 'from the future' }, { note: 'no word' }, []],
  frame: (payload) => `data: ${typeof payload === 'string' ? payload : JSON.stringify(payload)}\n\n`,
  error: (fault, secret) => errorOf(fault, secret),
  fail: (fault) => [{ do: 'fail', ...failures[fault.type], message: fault.message }],
  read: (body) => readRequest(body as Body),
  refuse: (body) => refuse((body as Body).turns),
};

function endOf({ usage, stop }: ScriptAnswer): readonly unknown[] {
  return [
    { do: 'usage', counts: usage },
    { do: 'end', stop },
  ];
}

function lineOf(step: Exclude<Step, { type: 'end' }>, block: ScriptBlock | undefined): readonly unknown[] {
  if (block === undefined) return [];
  const { at } = step;
  const word = block.type === 'call' ? 'input' : block.type;
  if (step.type === 'delta') return [{ do: word, at, delta: step.text }];
  if (step.type === 'close') return [{ do: 'close', at }];
  if (step.type === 'seal') return block.type === 'reasoning' ? [{ do: 'seal', at, data: block.seal }] : [];
  // An empty delta gives the block its place even when another one speaks first.
  return [
    block.type === 'call' ? { do: 'call', at, id: block.id, name: block.name } : { do: word, at, delta: '' },
  ];
}

type Failure = Required<Pick<ScriptFailure, 'kind'>> & { readonly status: number };

const failures: Readonly<Record<ScriptFault['type'], Failure>> = {
  overloaded: { status: 529, kind: 'busy' },
  rate_limit: { status: 429, kind: 'rate_limit' },
  server: { status: 500, kind: 'agent' },
  invalid: { status: 400, kind: 'invalid' },
  refused_key: { status: 401, kind: 'auth' },
  not_found: { status: 404, kind: 'invalid' },
  context_full: { status: 400, kind: 'too_long' },
};

function errorOf(fault: ScriptFault, secret: string): WireError {
  const { status, kind } = failures[fault.type];
  const message = fault.type === 'refused_key' ? `${fault.message} (the key was ${secret})` : fault.message;
  const body: ScriptFailure = {
    message,
    kind,
    ...(fault.retryAfterMs !== undefined && { retryAfterMs: fault.retryAfterMs }),
  };
  return { status, headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) };
}

/** The wire's body: a request of the kit and its turns. */
interface Body extends Omit<ReadRequest, 'system' | 'turns'> {
  readonly system: readonly string[];
  readonly turns: readonly Turn[];
}

function readRequest(body: Body): ReadRequest {
  const { system, turns, ...rest } = body;
  return {
    ...rest,
    system: system.join('\n\n'),
    turns: turns.map(({ side, parts }) => ({ side, parts: parts.flatMap(readPart) })),
  };
}

function readPart(part: Turn['parts'][number]): ReadPart[] {
  switch (part.type) {
    case 'tool_result': {
      const text = part.content.map((item) => (item.type === 'text' ? item.text : '')).join('');
      return [{ type: 'result', id: part.callId, text, isError: part.isError }];
    }
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

/** The rules that any service has for a history; the words are ours. */
function refuse(turns: readonly Turn[]): WireError | undefined {
  const problem = Array.isArray(turns) ? problemOf(turns) : 'there are no turns';
  return problem === undefined
    ? undefined
    : errorOf({ type: 'invalid', message: `Bad history: ${problem}.` }, '');
}

function problemOf(turns: readonly Turn[]): string | undefined {
  const seen = new Set<string>();
  let open: string[] = [];
  for (const [index, turn] of turns.entries()) {
    if (turn.side !== (index % 2 === 0 ? 'user' : 'assistant')) return `turn ${index} is from the wrong side`;
    if (turn.parts.length === 0) return `turn ${index} is empty`;
    if (turn.parts.some((part) => part.type === 'text' && part.text === ''))
      return `turn ${index} has an empty text`;
    if (turn.side === 'user') {
      const results = turn.parts.flatMap((part) => (part.type === 'tool_result' ? [part.callId] : []));
      const first = turn.parts.slice(0, results.length);
      if (first.some((part) => part.type !== 'tool_result'))
        return `turn ${index} has results after other parts`;
      if (results.join() !== open.join())
        return `turn ${index} answers ${results.join()} where ${open.join()} is open`;
      open = [];
    } else {
      open = callIds(turn.parts);
      if (open.some((id) => seen.has(id)) || new Set(open).size < open.length)
        return `turn ${index} repeats a call id`;
      for (const id of open) seen.add(id);
    }
  }
  return open.length > 0 ? `nothing answers ${open.join()}` : undefined;
}

function callIds(parts: readonly AssistantPart[]): string[] {
  return parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []));
}

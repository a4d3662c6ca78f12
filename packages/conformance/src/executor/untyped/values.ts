import { AgentError } from '@cobbler/agent';

/** A value that an untyped caller might pass. */
export interface OddValue {
  /** Name for reports. */
  readonly name: string;
  /** Returns a new value, because some can be used only once. */
  make(): unknown;
}

function refuse(): never {
  throw new RangeError('read by accident');
}

const traps = [
  ...(['get', 'has', 'ownKeys', 'getOwnPropertyDescriptor', 'getPrototypeOf', 'apply', 'construct'] as const),
  ...(['set', 'defineProperty', 'deleteProperty', 'isExtensible', 'preventExtensions'] as const),
];

function refusing(target: object, names: readonly string[] = traps): object {
  return new Proxy(target, Object.fromEntries(names.map((name) => [name, refuse])));
}

function revoked(target: object): object {
  const { proxy, revoke } = Proxy.revocable(target, {});
  revoke();
  return proxy;
}

/** The names of fields that are read somewhere. */
const names = [
  ...[
    'type',
    'role',
    'content',
    'text',
    'name',
    'description',
    'parameters',
    'execute',
    'agent',
    'run',
    'then',
  ],
  ...[
    'length',
    'message',
    'usage',
    'decision',
    'behavior',
    'schema',
    'signal',
    'aborted',
    'turns',
    'sessionId',
  ],
  ...[
    'runId',
    'from',
    'claim',
    'append',
    'read',
    'upTo',
    'summary',
    'value',
    'ok',
    'input',
    'allow',
    'totalMs',
  ],
];

function withGetters(get: (name: string) => unknown): object {
  const fields = names.map((name): [string, PropertyDescriptor] => [
    name,
    { get: () => get(name), enumerable: true },
  ]);
  return Object.defineProperties({}, Object.fromEntries(fields));
}

/** Returns a function whose every field, and whose every result, is itself. */
function bottomless(): unknown {
  const self: unknown = new Proxy(() => undefined, { get: () => self, apply: () => self, has: () => true });
  return self;
}

function nested(levels: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 'inside';
  for (let level = 0; level < levels; level += 1) value = wrap(value);
  return value;
}

function cyclic(): object {
  const value: Record<string, unknown> = { type: 'text', text: 'round', list: [] };
  value['self'] = value;
  value['list'] = [value, value];
  return value;
}

function cyclicList(): unknown[] {
  const value: unknown[] = [];
  value.push(value, { type: 'text', text: 'round', value });
  return value;
}

function sparse(length: number): unknown[] {
  const list: unknown[] = [{ type: 'text', text: 'first' }];
  list.length = length;
  return list;
}

function quiet(pending: Promise<unknown>): Promise<unknown> {
  pending.catch(() => undefined);
  return pending;
}

class Custom {
  readonly #secret = 'own';
  type = 'text';
  get text(): string {
    return this.#secret;
  }
  get name(): string {
    return this.#secret;
  }
  run(): string {
    return this.#secret;
  }
}

const primitives: readonly unknown[] = [
  ...[undefined, null, true, false, 0, -0, 1, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY],
  ...[Number.NEGATIVE_INFINITY, 2 ** 53, 1e308, 10n, -1n, Symbol('odd'), Symbol.iterator],
  ...['', ' ', 'text', '__proto__', 'constructor', '\ud800', 'half \udc00', 'zero \0 byte', '{"a":1}'],
];

function nameOf(value: unknown): string {
  if (typeof value === 'string') return `the string ${JSON.stringify(value)}`;
  return Object.is(value, -0) ? '-0' : `${String(value)} of type ${typeof value}`;
}

/** Values of the language that are not plain data. */
const objects: Readonly<Record<string, () => unknown>> = {
  'an empty object': () => ({}),
  'an empty array': () => [],
  'an object without a prototype': () => Object.assign(Object.create(null), { type: 'text', text: 'bare' }),
  'a frozen object': () => Object.freeze({ type: 'text', text: 'frozen', extra: Object.freeze([1]) }),
  'a function': () => () => undefined,
  'an async function': () => async () => undefined,
  'a generator function': () =>
    function* numbers() {
      yield 1;
    },
  'a class': () => Custom,
  'a function that throws': () => refuse,
  'a function that never resolves': () => () => new Promise(() => {}),
  'a class instance': () => new Custom(),
  'a String object': () => Object('text'),
  'a Number object': () => Object(5),
  // biome-ignore lint/style/noRestrictedGlobals: the value is a date.
  'a date': () => new Date(0),
  // biome-ignore lint/style/noRestrictedGlobals: the value is a date.
  'an invalid date': () => new Date(Number.NaN),
  'a map': () => new Map([['type', 'text']]),
  'a set': () => new Set(['text']),
  'a weak map': () => new WeakMap(),
  'a regular expression': () => /text/g,
  'an error': () => new TypeError('An error as a value.'),
  'an AgentError': () => new AgentError({ kind: 'network', code: 'own', message: 'An error as a value.' }),
  'an error that cannot be read': () => Object.defineProperty(new Error('x'), 'message', { get: refuse }),
  'a URL': () => new URL('https://example.org/path'),
  bytes: () => new Uint8Array([1, 2, 3]),
  'numbers that are not finite': () => new Float64Array([Number.NaN, Number.POSITIVE_INFINITY]),
  'a buffer': () => new ArrayBuffer(8),
  'an aborted signal': () => AbortSignal.abort(),
  'an aborted signal with an unreadable reason': () => AbortSignal.abort(refusing({})),
  'an iterator': () => [1, 2][Symbol.iterator](),
  'a long string': () => 'long '.repeat(200_000),
  'a resolved promise': () => Promise.resolve('text'),
  'a rejected promise': () => quiet(Promise.reject(new Error('rejected'))),
  'a promise that never resolves': () => new Promise(() => {}),
};

/** Values that behave badly when they are read. */
const hostile: Readonly<Record<string, () => unknown>> = {
  'getters that throw': () => withGetters(refuse),
  'getters that return something else each time': () => {
    let reads = 0;
    return withGetters(() => {
      reads += 1;
      return [undefined, 'text', 7, null, () => 'x', {}][reads % 6];
    });
  },
  'a proxy whose traps throw': () => refusing({}),
  'a function in a proxy whose traps throw': () => refusing(() => undefined),
  'an array in a proxy whose traps throw': () => refusing([]),
  'a proxy whose values cannot be read': () => refusing({ type: 'text', text: 'x' }, ['get']),
  'a proxy whose names cannot be read': () => refusing({ type: 'text', text: 'x' }, ['ownKeys']),
  'an array whose items cannot be read': () => refusing([1, 2], ['get']),
  'a revoked proxy': () => revoked({}),
  'a revoked proxy of an array': () => revoked([]),
  'a revoked proxy of a function': () => revoked(() => undefined),
  'a function that returns itself for everything': bottomless,
  // biome-ignore lint/suspicious/noThenProperty: the value is a thenable.
  'a thenable that never resolves': () => ({ then: () => undefined }),
  // biome-ignore lint/suspicious/noThenProperty: the value is a thenable.
  'a thenable that throws': () => ({ then: refuse }),
  'a thenable that rejects with a proxy': () => ({
    // biome-ignore lint/suspicious/noThenProperty: the value is a thenable.
    then: (_: unknown, reject: (reason: unknown) => void) => reject(refusing({})),
  }),
  'an object that cannot become a string': () => ({ toString: refuse, valueOf: refuse, type: 'text' }),
  'a cyclic object': cyclic,
  'a cyclic array': cyclicList,
  'arrays of 100,000 levels': () => nested(100_000, (inner) => [inner]),
  'objects of 100,000 levels': () => nested(100_000, (inner) => ({ type: 'text', text: inner })),
  'messages of 100,000 levels': () => nested(100_000, (inner) => [{ role: 'user', content: inner }]),
  'a sparse array': () => sparse(5),
  'a sparse array of the maximum length': () => sparse(2 ** 32 - 1),
  'an array with extra fields': () => Object.assign([{ type: 'text', text: 'x' }], { role: 'user', odd: 1n }),
  'an array with undefined': () => [undefined],
  'an array with null': () => [null, { type: 'text', text: 'x' }],
  'an own field __proto__': () => JSON.parse('{"__proto__":{"type":"text"},"type":"text","text":"x"}'),
  'an own field constructor': () => ({ constructor: 'x', prototype: 1, type: 'text', text: 'x' }),
  'a toJSON method that throws': () => ({ toJSON: refuse, type: 'text', text: 'x' }),
  'a toJSON method that returns something else': () => ({ toJSON: () => 7, type: 'text', text: 'x' }),
  'fields that JSON cannot represent': () => ({ type: 'text', text: 'x', a: 1n, b: Number.NaN, c: () => 1 }),
  'fields that are undefined': () => ({ type: undefined, role: undefined, text: undefined, name: undefined }),
};

/** Data in the formats of other libraries. */
const foreign: Readonly<Record<string, () => unknown>> = {
  'messages of OpenAI Chat': () => [
    { role: 'system', content: 'Be kind.' },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: 'https://example.org/a.png' } }] },
    {
      role: 'assistant',
      content: null,
      tool_calls: [{ id: 'a', type: 'function', function: { name: 'b' } }],
    },
    { role: 'tool', tool_call_id: 'a', content: 'done' },
  ],
  'messages of Anthropic': () => [
    { role: 'user', content: 'Hi.' },
    { role: 'assistant', content: [{ type: 'tool_use', id: 'a', name: 'b', input: {} }] },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'a', content: 'done' }] },
  ],
  'a UI message of the AI SDK': () => ({ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }),
  'UI messages of the AI SDK': () => [{ id: 'm', role: 'user', parts: [{ type: 'text', text: 'Hi.' }] }],
  'messages of the AI SDK': () => [
    { role: 'assistant', content: [{ type: 'tool-call', toolCallId: 'a', toolName: 'b', input: {} }] },
    { role: 'tool', content: [{ type: 'tool-result', toolCallId: 'a', toolName: 'b', output: {} }] },
  ],
  'a message of LangChain': () => ({
    lc: 1,
    type: 'constructor',
    id: ['langchain_core', 'messages', 'HumanMessage'],
    kwargs: { content: 'Hi.' },
  }),
  'messages of Gemini': () => [{ role: 'model', parts: [{ text: 'Hi.' }] }],
  'a tool of OpenAI': () => ({ type: 'function', function: { name: 'b', parameters: { type: 'object' } } }),
  'a tool of Anthropic': () => ({ name: 'b', description: 'B.', input_schema: { type: 'object' } }),
  'a tool of the AI SDK': () => ({
    description: 'B.',
    inputSchema: { jsonSchema: {} },
    execute: async () => 1,
  }),
  'a response of OpenAI': () => ({ id: 'r', choices: [{ message: { role: 'assistant', content: 'Hi.' } }] }),
  'a result of MCP': () => ({ content: [{ type: 'text', text: 'Hi.' }], isError: false }),
  'a user message': () => ({ role: 'user', content: [{ type: 'text', text: 'Hi.' }] }),
  'a conversation with empty and unmatched messages': () => [
    { role: 'user', content: [] },
    { role: 'tool_result', toolCallId: 'lost', content: [{ type: 'text', text: '' }] },
    {
      role: 'assistant',
      content: [{ type: 'tool_call', id: 'a', toolName: 'b', arguments: { x: '\ud800' } }],
    },
    { role: 'user', content: [{ type: 'text', text: 'Hi.\udc00' }] },
  ],
  'a conversation with numbers for texts': () => [
    { role: 'user', content: [{ type: 'text', text: 'Hi.' }], extra: 1n },
    {
      role: 'assistant',
      content: [{ type: 'tool_call', id: 'a', toolName: 'b', arguments: 'none', problem: 7 }],
    },
    { role: 'user', content: [{ type: 'file', mediaType: 'image/png', data: 'AA==', name: 7 }] },
  ],
  'a conversation with sealed data': () => [
    { role: 'assistant', content: [{ type: 'opaque', seal: { provider: 7, data: () => 1 } }] },
    { role: 'user', content: 'Hi.' },
  ],
  'a JSON Schema': () => ({ type: 'object', properties: { a: { type: 'string' } }, required: ['a'] }),
};

const described = [objects, hostile, foreign].flatMap((group) => Object.entries(group));

/** Every kind of value that JavaScript code can pass. */
export const oddValues: readonly OddValue[] = [
  ...primitives.map((value) => ({ name: nameOf(value), make: () => value })),
  ...described.map(([name, make]) => ({ name, make })),
];

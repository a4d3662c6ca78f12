import { AgentError, toolOutput } from '@cobbler/agent';
import {
  calls,
  expect,
  expectEqual,
  maxOutputBytes,
  ofType,
  probeTools,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';
import { expectAtOnce, resultOf } from '../setup/odd-tool.ts';

const the = group('tools');

/** Checks that an unusual result or error of a tool reaches the model as this text, without delay. */
function produces(what: string, execute: () => unknown, words: string, isError: boolean): ExecutorCase {
  return the(`a tool that ${what} produces ${isError ? 'an error' : 'a result'} [P10]`, async (setup) => {
    const result = await resultOf(setup, { execute });
    expect(
      result.text.includes(words),
      `a text that contains "${words}", found ${result.text.slice(0, 300)}`,
    );
    expectEqual(result.isError, isError, 'whether it is an error');
    expectAtOnce(result);
  });
}

function thrower(value: () => unknown): () => never {
  return () => {
    throw value();
  };
}

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}

function deep(): unknown {
  let value: unknown = 1;
  for (let depth = 0; depth < 200_000; depth += 1) value = [value];
  return value;
}

class Purse {
  readonly owner = 'me';
  readonly #coins = 7;
  get worth(): number {
    return this.#coins;
  }
}

const lied: ErrorOptions = {};
lied.cause = lied;

const throws: readonly ExecutorCase[] = [
  produces(
    'throws a frozen error',
    thrower(() => Object.freeze(new Error('frozen'))),
    'frozen',
    true,
  ),
  produces(
    'throws an object without a prototype',
    thrower(() => Object.create(null)),
    'Error',
    true,
  ),
  produces(
    'throws an empty string',
    thrower(() => ''),
    '(no output)',
    true,
  ),
  produces(
    'throws an array',
    thrower(() => ['a', 'b']),
    'a,b',
    true,
  ),
  produces(
    'throws a function',
    thrower(() => () => 7),
    '7',
    true,
  ),
  produces(
    'throws a promise',
    thrower(() => Promise.resolve('never read')),
    'Error',
    true,
  ),
  produces('throws a revoked proxy', thrower(revoked), 'cannot be described', true),
  produces(
    'throws an error whose message cannot be read',
    thrower(() =>
      Object.defineProperty(new Error('hidden'), 'message', {
        get() {
          throw new Error('no looking');
        },
      }),
    ),
    'cannot be described',
    true,
  ),
  produces(
    'throws an error whose message is not a string',
    thrower(() => Object.assign(new Error('x'), { message: { odd: true } })),
    'Error',
    true,
  ),
  produces(
    'throws an error that is its own cause',
    thrower(() => new Error('round and round', lied)),
    'round',
    true,
  ),
  produces(
    'throws a lone surrogate',
    thrower(() => new Error('a\ud800b')),
    'a\ufffdb',
    true,
  ),
  produces(
    'throws an AggregateError',
    thrower(() => new AggregateError([new Error('x')], 'many')),
    'many',
    true,
  ),
  produces(
    'throws an error that looks like a cancel',
    thrower(() => new AgentError({ kind: 'aborted', message: 'as if cancelled' })),
    'as if cancelled',
    true,
  ),
  produces(
    'throws an error that looks like an abort',
    thrower(() => new DOMException('as if aborted', 'AbortError')),
    'as if aborted',
    true,
  ),
  produces(
    'throws an error that looks like a limit',
    thrower(() => new AgentError({ kind: 'limit', code: 'turns', message: 'as if used up' })),
    'as if used up',
    true,
  ),
];

const returns: readonly ExecutorCase[] = [
  produces('returns an error instead of throwing it', () => new Error('should be thrown'), 'should be', true),
  produces('returns a promise of an error', async () => new Error('should be thrown'), 'should be', true),
  produces('returns a date', () => new Date(0), '1970-01-01T00:00:00.000Z', false),
  produces('returns an invalid date', () => new Date(Number.NaN), 'null', false),
  produces('returns NaN', () => Number.NaN, 'null', false),
  produces('returns an instance of a class', () => new Purse(), '{"owner":"me"}', false),
  produces('returns a frozen object', () => Object.freeze({ a: 1 }), '{"a":1}', false),
  produces(
    'returns an object without a prototype',
    () => Object.assign(Object.create(null), { a: 1 }),
    '{"a":1}',
    false,
  ),
  produces('returns a Map', () => new Map([['a', 1]]), '{}', false),
  produces('returns bytes', () => new Uint8Array([7]), '7', false),
  produces(
    'returns nested promises',
    async () => Promise.resolve(Promise.resolve('at last')),
    'at last',
    false,
  ),
  produces('returns an object that contains a promise', () => ({ a: Promise.resolve(1) }), '{"a":{}}', false),
  produces('returns a generator', () => [1][Symbol.iterator](), '{}', false),
  produces('returns a deeply nested bigint', () => ({ a: [{ b: 1n }] }), 'BigInt', true),
  produces('returns a deeply nested function', () => ({ a: [{ b() {} }] }), '{"a":[{}]}', false),
  produces('returns an array nested deeper than the stack allows', deep, 'cannot be written', true),
  produces('returns a revoked proxy', revoked, 'revoked', true),
  produces(
    'returns an object with a field that cannot be read',
    () => ({
      get field() {
        throw new Error('not for you');
      },
    }),
    'not for you',
    true,
  ),
  produces(
    'returns a proxy that throws on every access',
    () =>
      new Proxy(
        {},
        {
          get(_target, key) {
            // A promise is checked first, with `then`.
            if (key === 'then') return undefined;
            throw new Error('no questions');
          },
          has() {
            throw new Error('no questions');
          },
          getPrototypeOf() {
            throw new Error('no questions');
          },
        },
      ),
    'no questions',
    true,
  ),
  produces(
    'returns an object whose toJSON returns itself',
    () => {
      const self: { toJSON?: () => unknown } = {};
      self.toJSON = () => ({ self });
      return self;
    },
    'cannot be written',
    true,
  ),
  produces(
    'returns an object whose toJSON returns undefined',
    () => ({ toJSON: () => undefined }),
    '(no output)',
    false,
  ),
  produces(
    'returns a foreign promise that settles twice',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: the case needs a thenable.
      then(resolve: (value: string) => void) {
        resolve('the first');
        resolve('the second');
        throw new Error('and then this');
      },
    }),
    'the first',
    false,
  ),
];

/** An output that does not match its type. */
function output(value: Record<string, unknown>): () => unknown {
  return () => toolOutput(value as unknown as { content: string });
}

const outputs: readonly ExecutorCase[] = [
  produces('returns an output whose content is a number', output({ content: 5 }), 'cannot be written', true),
  produces('returns an output with an empty part', output({ content: [null] }), 'cannot be written', true),
  produces(
    'returns a text part without text',
    output({ content: [{ type: 'text', text: null }] }),
    'cannot be written',
    true,
  ),
  produces(
    'returns an image without a media type',
    output({ content: [{ type: 'file', data: 'iVBORw0=' }] }),
    'media type',
    true,
  ),
  produces(
    'returns an image with an unsupported media type',
    output({ content: [{ type: 'file', mediaType: 'image/\ud800', data: 'iVBORw0=' }] }),
    'media type',
    true,
  ),
  produces(
    'returns an image that is not base64',
    output({ content: [{ type: 'file', mediaType: 'image/png', data: 'data:image/png;base64,iVBORw0=' }] }),
    'base64',
    true,
  ),
  produces(
    'returns a document without bytes',
    output({ content: [{ type: 'file', mediaType: 'application/pdf', data: '' }] }),
    'base64',
    true,
  ),
  produces(
    'returns an image part with extra fields',
    output({
      content: [
        { type: 'text', text: 'Seen.' },
        { type: 'file', mediaType: 'image/png', data: 'iVBORw0=', more: 1n },
      ],
    }),
    'Seen.',
    false,
  ),
  produces(
    'returns a summary and a diff of the wrong types',
    output({ content: 'x', summary: {}, diff: 5 }),
    'x',
    false,
  ),
  the('100,000 parts of output reach the model as at most 256 KiB [P10]', async (setup) => {
    const content = Array.from({ length: 100_000 }, (_, index) => ({ type: 'text', text: `part ${index}` }));
    const { text } = await resultOf(setup, { execute: output({ content }) });
    const bytes = new TextEncoder().encode(text).length;
    expect(bytes <= maxOutputBytes, `at most ${maxOutputBytes} bytes, found ${bytes}`);
    expect(text.startsWith('part 0') && text.endsWith('part 99999'), 'the first and the last part');
  }),
  the('a summary for display is short', async (setup) => {
    const { tool } = probeTools();
    const long = tool('long', { execute: output({ content: 'x', summary: 's'.repeat(1_000_000) }) });
    const run = setup.run({ agent: scriptedModel([calls(['long']), textResponse('On.')]), tools: [long] });
    await setup.until(run);
    const [event] = ofType(setup.storedOf(run), 'tool_result');
    const length = event?.summary?.length ?? 0;
    expect(length > 100 && length <= 1000, `a summary of at most 1000 characters, found ${length}`);
  }),
];

/** Unusual values that a tool throws or returns. */
export const oddValueCases: readonly ExecutorCase[] = [...throws, ...returns, ...outputs];

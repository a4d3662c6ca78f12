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
import type { ExecutorCase } from '../setup/cases.ts';
import { group } from '../setup/cases.ts';
import { expectAtOnce, toldOf } from '../setup/odd-tool.ts';

const the = group('tools');

/** A tool's odd end, at once: the model is told of it in these words. */
function tells(what: string, execute: () => unknown, words: string, isError: boolean): ExecutorCase {
  return the(`a tool that ${what} gives ${isError ? 'an error' : 'a result'} [P10]`, async (stage) => {
    const told = await toldOf(stage, { execute });
    expect(told.text.includes(words), `a text with ${words}, found ${told.text.slice(0, 300)}`);
    expectEqual(told.isError, isError, 'whether it is an error');
    expectAtOnce(told);
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
  tells(
    'throws a frozen error',
    thrower(() => Object.freeze(new Error('frozen'))),
    'frozen',
    true,
  ),
  tells(
    'throws an object without a prototype',
    thrower(() => Object.create(null)),
    'Error',
    true,
  ),
  tells(
    'throws an empty text',
    thrower(() => ''),
    '(no output)',
    true,
  ),
  tells(
    'throws a list',
    thrower(() => ['a', 'b']),
    'a,b',
    true,
  ),
  tells(
    'throws a function',
    thrower(() => () => 7),
    '7',
    true,
  ),
  tells(
    'throws a promise',
    thrower(() => Promise.resolve('never read')),
    'Error',
    true,
  ),
  tells('throws a proxy that is gone', thrower(revoked), 'cannot be described', true),
  tells(
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
  tells(
    'throws an error whose message is no text',
    thrower(() => Object.assign(new Error('x'), { message: { odd: true } })),
    'Error',
    true,
  ),
  tells(
    'throws an error that is its own cause',
    thrower(() => new Error('round and round', lied)),
    'round',
    true,
  ),
  tells(
    'throws half of a surrogate pair',
    thrower(() => new Error('a\ud800b')),
    'a\ufffdb',
    true,
  ),
  tells(
    'throws several errors in one',
    thrower(() => new AggregateError([new Error('x')], 'many')),
    'many',
    true,
  ),
  tells(
    'throws what a cancel would look like',
    thrower(() => new AgentError({ kind: 'aborted', message: 'as if cancelled' })),
    'as if cancelled',
    true,
  ),
  tells(
    'throws what an abort would look like',
    thrower(() => new DOMException('as if aborted', 'AbortError')),
    'as if aborted',
    true,
  ),
  tells(
    'throws what a limit would look like',
    thrower(() => new AgentError({ kind: 'limit', code: 'turns', message: 'as if used up' })),
    'as if used up',
    true,
  ),
];

const returns: readonly ExecutorCase[] = [
  tells('returns an error instead of throwing it', () => new Error('should be thrown'), 'should be', true),
  tells('returns an error by a promise', async () => new Error('should be thrown'), 'should be', true),
  tells('returns a date', () => new Date(0), '1970-01-01T00:00:00.000Z', false),
  tells('returns a date that is none', () => new Date(Number.NaN), 'null', false),
  tells('returns what is no number', () => Number.NaN, 'null', false),
  tells('returns an object of a class', () => new Purse(), '{"owner":"me"}', false),
  tells('returns a frozen object', () => Object.freeze({ a: 1 }), '{"a":1}', false),
  tells(
    'returns an object without a prototype',
    () => Object.assign(Object.create(null), { a: 1 }),
    '{"a":1}',
    false,
  ),
  tells('returns a map', () => new Map([['a', 1]]), '{}', false),
  tells('returns bytes', () => new Uint8Array([7]), '7', false),
  tells(
    'returns promises of promises',
    async () => Promise.resolve(Promise.resolve('at last')),
    'at last',
    false,
  ),
  tells('returns an object with a promise in it', () => ({ a: Promise.resolve(1) }), '{"a":{}}', false),
  tells('returns a generator', () => [1][Symbol.iterator](), '{}', false),
  tells('returns a big integer far inside', () => ({ a: [{ b: 1n }] }), 'BigInt', true),
  tells('returns a function far inside', () => ({ a: [{ b() {} }] }), '{"a":[{}]}', false),
  tells('returns a list nested deeper than the stack', deep, 'cannot be written', true),
  tells('returns a proxy that is gone', revoked, 'revoked', true),
  tells(
    'returns an object with a field that cannot be read',
    () => ({
      get field() {
        throw new Error('not for you');
      },
    }),
    'not for you',
    true,
  ),
  tells(
    'returns a proxy that refuses every question',
    () =>
      new Proxy(
        {},
        {
          get(_target, key) {
            // A promise is looked at before anything else.
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
  tells(
    'returns an object that writes itself as itself',
    () => {
      const self: { toJSON?: () => unknown } = {};
      self.toJSON = () => ({ self });
      return self;
    },
    'cannot be written',
    true,
  ),
  tells(
    'returns an object that writes itself as nothing',
    () => ({ toJSON: () => undefined }),
    '(no output)',
    false,
  ),
  tells(
    'returns a promise of another kind that settles twice',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: what the case is about.
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

/** An output of a form that nobody promised. */
function output(value: Record<string, unknown>): () => unknown {
  return () => toolOutput(value as unknown as { content: string });
}

const outputs: readonly ExecutorCase[] = [
  tells('gives an output whose content is a number', output({ content: 5 }), 'cannot be written', true),
  tells('gives an output with an empty part', output({ content: [null] }), 'cannot be written', true),
  tells(
    'gives a text part without a text',
    output({ content: [{ type: 'text', text: null }] }),
    'cannot be written',
    true,
  ),
  tells(
    'gives a picture without a media type',
    output({ content: [{ type: 'file', data: 'iVBORw0=' }] }),
    'media type',
    true,
  ),
  tells(
    'gives a picture of an odd media type',
    output({ content: [{ type: 'file', mediaType: 'image/\ud800', data: 'iVBORw0=' }] }),
    'media type',
    true,
  ),
  tells(
    'gives a picture that is no base64',
    output({ content: [{ type: 'file', mediaType: 'image/png', data: 'data:image/png;base64,iVBORw0=' }] }),
    'base64',
    true,
  ),
  tells(
    'gives a document without bytes',
    output({ content: [{ type: 'file', mediaType: 'application/pdf', data: '' }] }),
    'base64',
    true,
  ),
  tells(
    'gives a picture with more in it than belongs there',
    output({
      content: [
        { type: 'text', text: 'Seen.' },
        { type: 'file', mediaType: 'image/png', data: 'iVBORw0=', more: 1n },
      ],
    }),
    'Seen.',
    false,
  ),
  tells(
    'gives a phrase and a diff of other types',
    output({ content: 'x', summary: {}, diff: 5 }),
    'x',
    false,
  ),
  the('a hundred thousand parts of output reach the model as 256 KiB at most [P10]', async (stage) => {
    const content = Array.from({ length: 100_000 }, (_, index) => ({ type: 'text', text: `part ${index}` }));
    const { text } = await toldOf(stage, { execute: output({ content }) });
    const bytes = new TextEncoder().encode(text).length;
    expect(bytes <= maxOutputBytes, `at most ${maxOutputBytes} bytes, found ${bytes}`);
    expect(text.startsWith('part 0') && text.endsWith('part 99999'), 'head and tail');
  }),
  the('a phrase for watchers is a short one', async (stage) => {
    const { tool } = probeTools();
    const long = tool('long', { execute: output({ content: 'x', summary: 's'.repeat(1_000_000) }) });
    const run = stage.run({ agent: scriptedModel([calls(['long']), textResponse('On.')]), tools: [long] });
    await stage.until(run);
    const [event] = ofType(stage.storedOf(run), 'tool_result');
    const length = event?.summary?.length ?? 0;
    expect(length > 100 && length <= 1000, `a phrase of at most 1000 characters, found ${length}`);
  }),
];

/** What a tool may throw and return that no tool should. */
export const oddValueCases: readonly ExecutorCase[] = [...throws, ...returns, ...outputs];

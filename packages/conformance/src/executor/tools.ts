import type { Tool } from '@cobbler/agent';
import { toolOutput } from '@cobbler/agent';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  maxOutputBytes,
  ofType,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('tools');

/** Runs one tool and returns its result as the model receives it; the run must complete normally. */
async function resultOf(
  setup: RunFixture,
  rest: Partial<Omit<Tool, 'name'>>,
): Promise<{ text: string; isError: boolean }> {
  const { tool } = probeTools();
  const result = await setup.play({
    agent: scriptedModel([calls(['one']), textResponse('Continued.')]),
    tools: [tool('one', rest)],
  });
  expectEqual([result.status, result.text], ['complete', 'Continued.'], 'the outcome');
  const [toolResult] = resultsOf(result.messages);
  return { text: resultTexts(result.messages)[0] ?? '', isError: toolResult?.isError === true };
}

const hostile = new Proxy(new Error('hidden'), {
  get() {
    throw new Error('no looking');
  },
});

const thrown: readonly (readonly [string, unknown, string])[] = [
  ['an error', new Error('no such file'), 'no such file'],
  ['a string', 'no such file', 'no such file'],
  ['undefined', undefined, 'undefined'],
  ['null', null, 'null'],
  ['a number', 7, '7'],
  ['a symbol', Symbol('odd'), 'odd'],
  ['an object without a message', { reason: 'none' }, 'Error'],
  ['an error whose fields cannot be read', hostile, 'cannot be described'],
];

const throwCases = thrown.flatMap(([what, value, text]) => [
  the(`a tool that throws ${what} produces an error result [P10]`, async (setup) => {
    const result = await resultOf(setup, {
      execute() {
        throw value;
      },
    });
    expect(
      result.isError && result.text.includes(text),
      `an error that contains "${text}", found ${result.text}`,
    );
  }),
  the(`a tool that rejects with ${what} produces an error result [P10]`, async (setup) => {
    const result = await resultOf(setup, { execute: () => Promise.reject(value) });
    expect(
      result.isError && result.text.includes(text),
      `an error that contains "${text}", found ${result.text}`,
    );
  }),
]);

const cycle: Record<string, unknown> = { name: 'cycle' };
cycle['self'] = cycle;

const returned: readonly (readonly [string, () => unknown, string, boolean])[] = [
  ['undefined', () => undefined, '(no output)', false],
  ['an empty string', () => '', '(no output)', false],
  ['whitespace', () => ' \n ', '(no output)', false],
  ['null', () => null, 'null', false],
  ['an object', () => ({ b: 1, a: [true] }), '{"b":1,"a":[true]}', false],
  ['a number', () => 7, '7', false],
  ['a lone surrogate', () => 'a\ud83db', 'a\ufffdb', false],
  ['a cycle', () => cycle, 'circular', true],
  ['a bigint', () => 7n, 'BigInt', true],
  ['a symbol', () => Symbol('odd'), 'symbol', true],
  ['a function', () => () => 7, 'function', true],
  [
    'an object whose toJSON throws',
    () => ({
      toJSON() {
        throw new Error('not me');
      },
    }),
    'not me',
    true,
  ],
  [
    'a foreign promise that throws',
    () => ({
      // biome-ignore lint/suspicious/noThenProperty: the case needs a thenable.
      then() {
        throw new Error('no promise');
      },
    }),
    'no promise',
    true,
  ],
  ['an output without content', () => toolOutput({} as { content: string }), 'cannot be written', true],
  [
    'an output with an unknown part',
    () => toolOutput({ content: [{ type: 'sound' } as never] }),
    'neither',
    true,
  ],
  ['an output without parts', () => toolOutput({ content: [] }), '(no output)', false],
];

const returnCases = returned.map(([what, make, text, isError]) =>
  the(`a tool that returns ${what} produces ${isError ? 'an error' : 'a result'} [P10]`, async (setup) => {
    const result = await resultOf(setup, { execute: make });
    expect(
      result.text.toLowerCase().includes(text.toLowerCase()),
      `a text that contains "${text}", found ${result.text}`,
    );
    expectEqual(result.isError, isError, 'whether it is an error');
  }),
);

const bytesOf = (text: string): number => new TextEncoder().encode(text).length;

const sizeCases: readonly ExecutorCase[] = [
  the(
    '5 MB of output reach the model as at most 256 KiB, with head, tail and a note about the cut [P10]',
    async (setup) => {
      const { text } = await resultOf(setup, { execute: () => `first ${'ä🧵x'.repeat(700_000)} last` });
      expect(bytesOf(text) <= maxOutputBytes, `at most ${maxOutputBytes} bytes, found ${bytesOf(text)}`);
      expect(bytesOf(text) > maxOutputBytes * 0.95, 'most of the limit to be used');
      expect(text.startsWith('first ') && text.endsWith(' last'), 'head and tail');
      expect(
        text.includes('bytes omitted') && !text.includes('\ufffd'),
        'a note about the cut, and whole characters',
      );
    },
  ),
  the('lone surrogates in output are replaced before the output is stored [P10, P12]', async (setup) => {
    const { tool } = probeTools();
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    const run = setup.run({ agent, tools: [tool('one', { execute: () => 'a\ud83dz' })] });
    const result = await setup.until(run);
    expectEqual(resultTexts(result.messages), ['a\ufffdz'], 'the output that the model receives');
    const [event] = ofType(setup.storedOf(run), 'tool_result');
    expectEqual(event?.content[0], { type: 'text', text: 'a\ufffdz' }, 'the output in the store');
  }),
  the('an error of 5 MB is shortened as well [P10]', async (setup) => {
    const { text } = await resultOf(setup, { execute: () => Promise.reject('x'.repeat(5_000_000)) });
    expect(bytesOf(text) <= maxOutputBytes, 'a short error');
  }),
  the('a tool can lower its output limit but not raise it [P10]', async (setup) => {
    const long = () => 'x'.repeat(400_000);
    const less = await resultOf(setup, { maxOutputBytes: 1000, execute: long });
    expect(bytesOf(less.text) <= 1000, `at most 1000 bytes, found ${bytesOf(less.text)}`);
    const more = await resultOf(setup, { maxOutputBytes: 10_000_000, execute: long });
    expect(bytesOf(more.text) <= maxOutputBytes, 'the maximum output size to apply');
  }),
  the('many parts share one limit [P10]', async (setup) => {
    const content = Array.from({ length: 20 }, () => ({ type: 'text', text: 'x'.repeat(100_000) }) as const);
    const { text } = await resultOf(setup, { execute: () => toolOutput({ content }) });
    expect(bytesOf(text) <= maxOutputBytes, `at most ${maxOutputBytes} bytes, found ${bytesOf(text)}`);
  }),
  the('the model receives no stack trace [P10]', async (setup) => {
    const stack =
      'it broke\n    at run (/home/me/app.js:3:7)\n    at file:///srv/index.js:1:1\nwhile reading';
    const { text } = await resultOf(setup, { execute: () => Promise.reject(new Error(stack)) });
    expectEqual(text, 'it broke\nwhile reading', 'the text');
  }),
];

const timeCases: readonly ExecutorCase[] = [
  the('a tool that hangs ends at its time limit and its signal is aborted [P2, P10]', async (setup) => {
    const { tool, runs } = probeTools();
    const hanging = tool('one', { timeoutMs: 3000, execute: () => new Promise(() => {}) });
    const agent = scriptedModel([calls(['one']), textResponse('Continued.')]);
    const result = await setup.play({ agent, tools: [hanging] });
    expectEqual([result.status, resultsOf(result.messages)[0]?.isError], ['complete', true], 'the outcome');
    expect(resultTexts(result.messages)[0]?.includes('3 s') === true, 'the time limit in the result');
    expect(runs[0]?.context.signal.aborted === true, 'the signal aborted');
    expect(setup.elapsed >= 3000 && setup.elapsed < 3500, `an end after 3 s, found ${setup.elapsed}`);
  }),
  the('the default time limit of a tool is 120 s [P2]', async (setup) => {
    await resultOf(setup, { execute: () => new Promise(() => {}) });
    expect(setup.elapsed >= 120_000 && setup.elapsed < 120_500, `an end after 120 s, found ${setup.elapsed}`);
  }),
  the('a tool that stops when its signal is aborted can return a partial result', async (setup) => {
    const { text, isError } = await resultOf(setup, {
      timeoutMs: 1000,
      execute: (_args, { signal }) =>
        new Promise((resolve) => signal.addEventListener('abort', () => resolve('half of it'))),
    });
    expectEqual([text, isError], ['half of it', false], 'the result');
  }),
  the('a tool that throws when its signal is aborted is reported as timed out [P10]', async (setup) => {
    const { text, isError } = await resultOf(setup, {
      timeoutMs: 1000,
      execute: (_args, { signal }) =>
        new Promise((_resolve, reject) =>
          signal.addEventListener('abort', () => reject(new Error('aborted'))),
        ),
    });
    expect(isError && text.includes('1 s'), `the time limit in the result, found ${text}`);
  }),
  the('the late actions of a timed-out tool change nothing [P10]', async (setup) => {
    const { tool } = probeTools();
    const late = Promise.withResolvers<string>();
    const hanging = tool('one', { timeoutMs: 1000, execute: () => late.promise });
    const run = setup.run({
      agent: scriptedModel([calls(['one']), textResponse('Continued.')]),
      tools: [hanging],
    });
    await setup.until(run);
    const before = setup.eventsOf(run).length;
    late.reject(new Error('too late'));
    await setup.rest();
    expectEqual(setup.eventsOf(run).length, before, 'the number of events');
  }),
];

const contextCases: readonly ExecutorCase[] = [
  the('a tool receives its call, a unique key and a way to report progress', async (setup) => {
    const { tool, runs } = probeTools();
    const one = tool('one', {
      execute(_args, { progress }) {
        progress('half way');
        return 'done';
      },
    });
    const run = setup.run({
      agent: scriptedModel([calls(['one', 'one']), textResponse('Done.')]),
      tools: [one],
    });
    const result = await setup.until(run);
    expectEqual(
      runs.map(({ context }) => context.callId),
      ['call-1', 'call-2'],
      'the ids of the calls',
    );
    const keys = new Set(runs.map(({ context }) => context.idempotencyKey));
    expectEqual(keys.size, 2, 'the number of keys');
    const shown = setup.eventsOf(run).flatMap((event) => (event.type === 'progress' ? [event.text] : []));
    expectEqual(shown, ['half way', 'half way'], 'the progress emitted');
    expect(!JSON.stringify(result.messages).includes('half way'), 'no progress in the messages');
  }),
  the('progress after the tool has ended is ignored', async (setup) => {
    const { tool, runs } = probeTools();
    const late = () => {
      runs[0]?.context.progress('still here');
      return textResponse('Done.');
    };
    const run = setup.run({ agent: scriptedModel([calls(['one']), late]), tools: [tool('one')] });
    await setup.until(run);
    late();
    expect(!setup.eventsOf(run).some(({ type }) => type === 'progress'), 'no progress emitted');
  }),
  the('images go to the model; summary and diff are only for display', async (setup) => {
    const { tool } = probeTools();
    const image = { type: 'file', mediaType: 'image/png', data: 'iVBORw0=' } as const;
    const content = [{ type: 'text', text: 'A chart.' }, { type: 'text', text: '' }, image] as const;
    const one = tool('one', {
      execute: () => toolOutput({ content, isError: true, summary: 'exit 1', diff: '+x' }),
    });
    const run = setup.run({ agent: scriptedModel([calls(['one']), textResponse('Done.')]), tools: [one] });
    const result = await setup.until(run);
    const [toolResult] = resultsOf(result.messages);
    expectEqual(toolResult?.content, [content[0], image], 'the content for the model');
    expectEqual(toolResult?.isError, true, 'whether it is an error');
    const [event] = ofType(setup.storedOf(run), 'tool_result');
    expectEqual([event?.summary, event?.diff], ['exit 1', '+x'], 'the summary and diff for display');
  }),
  the(
    'a tool receives its arguments as its validate function converts them; the log keeps the original',
    async (setup) => {
      const { tool, runs } = probeTools();
      const one = tool('one', {
        validate: (args) => ({ ok: true, value: { ...args, count: BigInt(String(args['count'])) } }),
      });
      const agent = scriptedModel([
        calls([{ name: 'one', arguments: { count: '7' } }]),
        textResponse('Done.'),
      ]);
      const run = setup.run({ agent, tools: [one] });
      await setup.until(run);
      expectEqual(runs[0]?.arguments['count'] === 7n, true, 'the converted argument');
      expectEqual(
        ofType(setup.storedOf(run), 'tool_started')[0]?.arguments,
        { count: '7' },
        'the recorded argument',
      );
    },
  ),
  the('a validate function that throws rejects the call [P9, P10]', async (setup) => {
    const { text, isError } = await resultOf(setup, {
      validate() {
        throw new Error('no check today');
      },
    });
    expect(isError && text.includes('no check today'), `the reason in the result, found ${text}`);
  }),
];

export const toolCases: readonly ExecutorCase[] = [
  ...throwCases,
  ...returnCases,
  ...sizeCases,
  ...timeCases,
  ...contextCases,
];

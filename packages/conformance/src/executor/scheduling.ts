import type { Tool, ToolEffect } from '@cobbler/agent';
import type { RunFixture } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  ofType,
  probeTools,
  resultsOf,
  resultTexts,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('scheduling');

/** The tools that ran together: those that started before any of them ended. */
async function waves(
  setup: RunFixture,
  made: readonly (readonly [string, ToolEffect, (readonly string[])?])[],
  toolScheduling: 'parallel' | 'sequential' = 'parallel',
): Promise<string[][]> {
  const { tool } = probeTools();
  const started: string[][] = [];
  let wave: string[] = [];
  const tools = made.map(([name, effect, locks]): Tool => {
    const execute = async () => {
      wave.push(name);
      await new Promise<void>((resolve) => void setup.runtime.timer(10, resolve));
      if (wave.length > 0) started.push(wave);
      wave = [];
      return name;
    };
    return tool(name, { effect, execute, ...defined({ locks }) });
  });
  const names = made.map(([name]) => name);
  const result = await setup.play({
    agent: scriptedModel([calls(names), textResponse('Done.')]),
    tools,
    toolScheduling,
  });
  expectEqual(resultTexts(result.messages), names, 'the results in the order of the calls');
  return started;
}

/** A response that calls one read tool many times. Each call takes `ms`, some a little more, or until it is stopped. */
function manyReads(setup: RunFixture, count: number, ms = 10) {
  const order: number[] = [];
  let running = 0;
  let maxRunning = 0;
  const read = probeTools().tool('read', {
    effect: 'read',
    async execute({ at }, { signal }) {
      const place = Number(at);
      order.push(place);
      running += 1;
      maxRunning = Math.max(maxRunning, running);
      await new Promise<void>((resolve) => {
        const takeBack = setup.runtime.timer(ms + (place % 3), resolve);
        signal.addEventListener('abort', () => {
          takeBack();
          resolve();
        });
      });
      running -= 1;
      return `read ${place}`;
    },
  });
  const batch = Array.from({ length: count }, (_, at) => ({ name: 'read', arguments: { at } }));
  const options = { agent: scriptedModel([calls(batch), textResponse('Done.')]), tools: [read] };
  return { options, order, maxRunning: () => maxRunning };
}

export const schedulingCases: readonly ExecutorCase[] = [
  the('adjacent read tools run together', async (setup) => {
    const found = await waves(setup, [
      ['a', 'read'],
      ['b', 'read'],
      ['c', 'read'],
    ]);
    expectEqual(found, [['a', 'b', 'c']], 'the tools that ran together');
  }),
  the('a tool with side effects runs alone and in order', async (setup) => {
    const found = await waves(setup, [
      ['a', 'read'],
      ['b', 'read'],
      ['c', 'once'],
      ['d', 'idempotent'],
      ['e', 'read'],
      ['f', 'read'],
    ]);
    expectEqual(found, [['a', 'b'], ['c'], ['d'], ['e', 'f']], 'the tools that ran together');
  }),
  the('sequential scheduling runs one tool after another [S4.13]', async (setup) => {
    const found = await waves(
      setup,
      [
        ['a', 'read'],
        ['b', 'read'],
      ],
      'sequential',
    );
    expectEqual(found, [['a'], ['b']], 'the tools that ran together');
  }),
  the(
    'at most 16 read tools run together; the others follow in the order of the calls [P29]',
    async (setup) => {
      for (const [toolConcurrency, max] of [
        [undefined, 16],
        [3, 3],
        [0, 1],
        [Number.POSITIVE_INFINITY, 40],
      ] as const) {
        const { options, order, maxRunning } = manyReads(setup, 40);
        const result = await setup.play({ ...options, ...defined({ toolConcurrency }) });
        expectEqual(
          [maxRunning(), result.metrics.toolCalls],
          [max, 40],
          'the tools at the same time, and in all',
        );
        expectEqual(
          order.toSorted((one, other) => one - other),
          order,
          'the order in which they started',
        );
        expectEqual(
          resultTexts(result.messages),
          order.map((at) => `read ${at}`),
          'the results in the order of the calls',
        );
      }
    },
  ),
  the(
    'a call that waits for its turn has not started, and does not run after a cancel [P9]',
    async (setup) => {
      const { options, order } = manyReads(setup, 40, 10_000);
      const run = setup.run(options);
      await setup.advance(5_000);
      run.cancel();
      const result = await setup.until(run);
      expectEqual(result.status, 'cancelled', 'the status');
      const started = ofType(setup.storedOf(run), 'tool_started');
      expectEqual([started.length, order.length], [16, 16], 'the calls that started, and the tools that ran');
      const notRun = resultsOf(result.messages).filter((one) => one.notRun === true);
      expectEqual(notRun.length, 24, 'the results marked as not run');
    },
  ),
  the('with a limit that is not a number no executor is created', async (setup) => {
    for (const toolConcurrency of [-1, Number.NaN]) {
      let message = '';
      try {
        setup.executor({ agent: scriptedModel([]), toolConcurrency });
      } catch (thrown) {
        message = String(thrown);
      }
      expect(message.includes(`it is ${toolConcurrency}`), `an error with the value, found ${message}`);
    }
  }),
  the('read tools with the same exclusive resource do not run together', async (setup) => {
    const found = await waves(setup, [
      ['a', 'read', ['screen']],
      ['b', 'read'],
      ['c', 'read', ['screen']],
      ['d', 'read', ['sound']],
    ]);
    expectEqual(
      found,
      [
        ['a', 'b'],
        ['c', 'd'],
      ],
      'the tools that ran together',
    );
  }),
  the('the default effect of a tool is once, so it runs alone', async (setup) => {
    const { tool, names } = probeTools();
    const held = Promise.withResolvers<string>();
    const first = tool('first', { execute: () => held.promise });
    const run = setup.run({
      agent: scriptedModel([calls(['first', 'second']), textResponse('Done.')]),
      tools: [first, tool('second')],
    });
    await setup.advance(1000);
    expectEqual(names, ['first'], 'the tools that started');
    held.resolve('done');
    await setup.until(run);
    expectEqual(names, ['first', 'second'], 'the tools that ran');
  }),
  the(
    'a tool runs only after its start is stored, and tools that run together share one append [P9]',
    async (setup) => {
      const seen: number[] = [];
      const { tool } = probeTools();
      let run: ReturnType<RunFixture['run']> | undefined;
      const look = () => {
        seen.push(run === undefined ? 0 : ofType(setup.storedOf(run), 'tool_started').length);
        return 'done';
      };
      const tools = ['a', 'b'].map((name) => tool(name, { effect: 'read', execute: look }));
      run = setup.run({ agent: scriptedModel([calls(['a', 'b']), textResponse('Done.')]), tools });
      await setup.until(run);
      expectEqual(seen, [2, 2], 'the starts stored when each tool started');
    },
  ),
  the('a denied call between two that run gets its result in its place [P12]', async (setup) => {
    const { tool, names } = probeTools();
    const tools = [tool('a', { effect: 'read' }), tool('b', { effect: 'read' })];
    const result = await setup.play({
      agent: scriptedModel([calls(['a', 'nobody', 'b']), textResponse('Done.')]),
      tools,
    });
    expectEqual(names, ['a', 'b'], 'the tools that ran');
    expectEqual(
      resultsOf(result.messages).map(({ isError }) => isError === true),
      [false, true, false],
      'the errors',
    );
  }),
  the('forty read tools run together and each has its result [P12]', async (setup) => {
    const { tool, names } = probeTools();
    const one = tool('one', { effect: 'read', execute: (args) => `got ${args['n']}` });
    const many = Array.from({ length: 40 }, (_, n) => ({ name: 'one', id: `id-${n}`, arguments: { n } }));
    const result = await setup.play({
      agent: scriptedModel([calls(many), textResponse('Done.')]),
      tools: [one],
    });
    expectEqual(names.length, 40, 'the tools that ran');
    expect(
      resultTexts(result.messages).every((text, n) => text === `got ${n}`),
      'each result in its place',
    );
  }),
];

const stopBatch = group('stop-batch');

export const stopBatchCases: readonly ExecutorCase[] = [
  stopBatch(
    'the first error skips the rest of the batch, and the model receives the reason [P12]',
    async (setup) => {
      const { tool, names } = probeTools();
      const bad = tool('bad', { execute: () => Promise.reject(new Error('broken')) });
      const agent = scriptedModel([calls(['good', 'bad', 'good', 'good']), textResponse('I see.')]);
      const result = await setup.play({ agent, tools: [tool('good'), bad], toolErrors: 'stop-batch' });
      expectEqual(names, ['good', 'bad'], 'the tools that ran');
      expectEqual(
        resultsOf(result.messages).map(({ notRun }) => notRun === true),
        [false, false, true, true],
        'the results marked as not run',
      );
      expectEqual([result.status, agent.requests.length], ['complete', 2], 'the outcome');
    },
  ),
  stopBatch('skipped calls emit no events', async (setup) => {
    const { tool } = probeTools();
    const bad = tool('bad', { execute: () => Promise.reject(new Error('broken')) });
    const run = setup.run({
      agent: scriptedModel([calls(['bad', 'good', 'good']), textResponse('I see.')]),
      tools: [tool('good'), bad],
      toolErrors: 'stop-batch',
    });
    await setup.until(run);
    expectEqual(ofType(setup.storedOf(run), 'tool_result').length, 1, 'the number of result events');
  }),
  stopBatch('tools that started together with the failed one keep their results [P12]', async (setup) => {
    const { tool } = probeTools();
    const held = Promise.withResolvers<string>();
    const bad = tool('bad', { effect: 'read', execute: () => Promise.reject(new Error('broken')) });
    const slow = tool('slow', { effect: 'read', execute: () => held.promise });
    const run = setup.run({
      agent: scriptedModel([calls(['bad', 'slow', 'write']), textResponse('I see.')]),
      tools: [bad, slow, tool('write')],
      toolErrors: 'stop-batch',
    });
    await setup.advance(1000);
    held.resolve('slow done');
    const result = await setup.until(run);
    expectEqual(resultTexts(result.messages)[1], 'slow done', 'the result of the slow tool');
    expectEqual(
      resultsOf(result.messages).map(({ notRun }) => notRun === true),
      [false, false, true],
      'the results marked as not run',
    );
  }),
  stopBatch('an error stops the reads that wait for their turn', async (setup) => {
    const { tool, names } = probeTools();
    const bad = tool('bad', { effect: 'read', execute: () => Promise.reject(new Error('broken')) });
    const result = await setup.play({
      agent: scriptedModel([calls(['bad', 'good', 'good']), textResponse('I see.')]),
      tools: [bad, tool('good', { effect: 'read' })],
      toolErrors: 'stop-batch',
      toolConcurrency: 1,
    });
    expectEqual(names, ['bad'], 'the tools that ran');
    expectEqual(
      resultsOf(result.messages).map(({ notRun }) => notRun === true),
      [false, true, true],
      'the results marked as not run',
    );
  }),
  stopBatch('a denied call stops the batch like a failed one', async (setup) => {
    const { tool, names } = probeTools();
    const gate = ({ toolName }: { toolName: string }) =>
      toolName === 'no' ? ({ type: 'deny', message: 'Not that.' } as const) : ({ type: 'allow' } as const);
    const result = await setup.play({
      agent: scriptedModel([calls(['no', 'good']), textResponse('I see.')]),
      tools: [tool('no'), tool('good')],
      toolErrors: 'stop-batch',
      gate,
    });
    expectEqual(names, [], 'the tools that ran');
    expectEqual(
      resultsOf(result.messages).map(({ notRun }) => notRun === true),
      [true, true],
      'the results marked as not run',
    );
  }),
  stopBatch(
    'after a crash, a call that is refused skips those that had not started [P9, P12]',
    async (setup) => {
      const [first, second] = [probeTools(), probeTools()];
      const never = () => new Promise<string>(() => {});
      const toolsOf = ({ tool }: typeof first, execute?: () => Promise<string>) => [
        tool('one', { effect: 'read', ...defined({ execute }) }),
        tool('two', { effect: 'read', ...defined({ execute }) }),
        tool('three', { effect: 'read', ...defined({ execute }) }),
      ];
      const run = setup.run(
        {
          agent: scriptedModel([calls(['one', 'two', 'three'])]),
          tools: toolsOf(first, never),
          toolConcurrency: 2,
        },
        'Go.',
        { sessionId: 'one' },
      );
      await setup.advance(1000);
      const agent = scriptedModel([textResponse('I see.')]);
      const gate = ({ toolName }: { toolName: string }) =>
        toolName === 'one' ? ({ type: 'deny', message: 'Not that.' } as const) : ({ type: 'allow' } as const);
      const again = setup.resume({ agent, tools: toolsOf(second), toolErrors: 'stop-batch', gate }, 'one');
      const { messages } = await setup.until(again);
      expectEqual(second.names, ['two'], 'the tools that ran after the crash');
      const skipped = resultsOf(messages).map(({ notRun }) => notRun === true);
      expectEqual(skipped.slice(1), [false, true], 'the results marked as not run');
      run.cancel();
      await setup.until(run);
    },
  ),
  stopBatch('by default an error does not stop the rest of the batch', async (setup) => {
    const { tool, names } = probeTools();
    const bad = tool('bad', { execute: () => Promise.reject(new Error('broken')) });
    const result = await setup.play({
      agent: scriptedModel([calls(['bad', 'good']), textResponse('I see.')]),
      tools: [bad, tool('good')],
    });
    expectEqual(names, ['bad', 'good'], 'the tools that ran');
    expectEqual(result.status, 'complete', 'the status');
  }),
];

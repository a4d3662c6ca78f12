import type { ExecutorOptions, Limits } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { ModelStep } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  ofType,
  probeTools,
  resultsOf,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import { budgetCases } from './budgets.ts';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('limits');

/** An agent that calls the same tool in every turn. */
function loop(turns: number, last: ModelStep = textResponse('Closing words.')): ModelStep[] {
  return [...Array.from({ length: turns }, () => calls(['one'])), last];
}

/** The tool always returns the same result, which these cases allow. */
const one = () => [probeTools().tool('one', { mayRepeat: true })];

const turnCases: readonly ExecutorCase[] = [
  the('the run ends when its turns are used up [P1]', async (setup) => {
    const agent = scriptedModel(loop(3));
    const result = await setup.play({ agent, tools: one(), limits: { turns: 3 } });
    expectEqual(
      [result.status, result.limit, result.error?.kind],
      ['limit', 'turns', 'limit'],
      'the outcome',
    );
    expectEqual(agent.requests.length, 3, 'the number of requests');
  }),
  the('the default limit is ten turns [P1]', async (setup) => {
    const agent = scriptedModel(loop(20));
    const result = await setup.play({ agent, tools: one() });
    expectEqual([result.limit, agent.requests.length], ['turns', 10], 'the outcome');
  }),
  the('a run that ends within its limit is complete', async (setup) => {
    const result = await setup.play({
      agent: scriptedModel(loop(2)),
      tools: one(),
      limits: { turns: 3, toolCalls: 2 },
    });
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('with a limit of zero turns no request is made [P1]', async (setup) => {
    const agent = scriptedModel([textResponse('Hello.')]);
    const result = await setup.play({ agent, limits: { turns: 0 } });
    expectEqual([result.limit, agent.requests.length], ['turns', 0], 'the outcome');
  }),
  the('an agent that always pauses reaches the limit [P1]', async (setup) => {
    const agent = scriptedModel(Array.from({ length: 20 }, () => textResponse('Wait.', { stop: 'pause' })));
    const result = await setup.play({ agent, limits: { turns: 4 } });
    expectEqual([result.limit, agent.requests.length], ['turns', 4], 'the outcome');
  }),
];

const closingCases: readonly ExecutorCase[] = [
  the('with finalize one closing response follows, with tools declared but forbidden [P1]', async (setup) => {
    const agent = scriptedModel(loop(2));
    const run = setup.run({
      agent,
      tools: one(),
      limits: { turns: 2 },
      onLimit: 'finalize',
      request: { maxTokens: 9 },
    });
    const result = await setup.until(run);
    expectEqual(
      [result.status, result.limit, result.text],
      ['limit', 'turns', 'Closing words.'],
      'the outcome',
    );
    const last = agent.requests[2];
    expectEqual(last?.config, { maxTokens: 9, toolChoice: 'none' }, 'the closing request');
    expect(
      last?.tools === agent.requests[0]?.tools && last?.tools.length === 1,
      'the same tools in both requests',
    );
    expectEqual(ofType(setup.storedOf(run), 'stop_requested')[0]?.limit, 'turns', 'the limit recorded');
  }),
  the('a closing response ends the run even if it calls tools [P1]', async (setup) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['one']), calls(['one']), textResponse('Never asked.')]);
    const options: ExecutorOptions = {
      agent,
      tools: [tool('one')],
      limits: { turns: 1 },
      onLimit: 'finalize',
    };
    const result = await setup.play(options);
    expectEqual([result.limit, agent.requests.length, names.length], ['turns', 2, 1], 'the outcome');
  }),
  the('a closing response that pauses ends the run [P1]', async (setup) => {
    const agent = scriptedModel([
      calls(['one']),
      textResponse('Wait.', { stop: 'pause' }),
      textResponse('Never asked.'),
    ]);
    const result = await setup.play({ agent, tools: one(), limits: { turns: 1 }, onLimit: 'finalize' });
    expectEqual([result.limit, agent.requests.length], ['turns', 2], 'the outcome');
  }),
  the('a closing request that fails also fails the run [P1]', async (setup) => {
    const agent = scriptedModel([
      calls(['one']),
      failedResponse(new AgentError({ kind: 'network', message: 'gone' })),
    ]);
    const result = await setup.play({ agent, tools: one(), limits: { turns: 1 }, onLimit: 'finalize' });
    expectEqual([result.status, result.error?.kind], ['failed', 'network'], 'the outcome');
  }),
];

const callCases: readonly ExecutorCase[] = [
  the('a batch is cut where the tool calls are used up [P1, P12]', async (setup) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['one']), calls(['one', 'one', 'one'])]);
    const result = await setup.play({ agent, tools: [tool('one')], limits: { toolCalls: 3 } });
    expectEqual([result.status, result.limit, names.length], ['limit', 'toolCalls', 3], 'the outcome');
    expectEqual(
      resultsOf(result.messages).map(({ notRun }) => notRun === true),
      [false, false, false, true],
      'the results marked as not run',
    );
  }),
  the(
    'with finalize the cut batch gets its results and one closing response follows [P1, P12]',
    async (setup) => {
      const agent = scriptedModel([calls(['one', 'one']), textResponse('Closing words.')]);
      const options: ExecutorOptions = { agent, tools: one(), limits: { toolCalls: 1 }, onLimit: 'finalize' };
      const result = await setup.play(options);
      expectEqual([result.limit, result.text], ['toolCalls', 'Closing words.'], 'the outcome');
      expectEqual(agent.requests[1]?.messages.length, 4, 'the messages of the closing request');
      expectEqual(agent.requests[1]?.config?.toolChoice, 'none', 'the tool choice');
    },
  ),
  the('rejected calls do not count as tool calls', async (setup) => {
    const agent = scriptedModel([calls(['nobody', 'nobody']), calls(['one']), textResponse('Done.')]);
    const result = await setup.play({ agent, tools: one(), limits: { toolCalls: 2 } });
    expectEqual([result.status, result.metrics.toolCalls], ['complete', 1], 'the outcome');
  }),
];

const timeCases: readonly ExecutorCase[] = [
  the('the run ends as timeout when its time limit passes [P2]', async (setup) => {
    const agent = scriptedModel([() => new Promise(() => {})]);
    const result = await setup.play({ agent, limits: { ms: 5000 } });
    expectEqual([result.status, result.error?.kind], ['timeout', 'timeout'], 'the outcome');
    expect(setup.elapsed >= 5000 && setup.elapsed <= 5250, `an end within 250 ms, found ${setup.elapsed}`);
  }),
  the(
    'a run that reaches its time limit in a gate that hangs ends as timeout as well [P2, P4]',
    async (setup) => {
      const gate = () => new Promise<never>(() => {});
      const options: ExecutorOptions = {
        agent: scriptedModel([calls(['one'])]),
        tools: one(),
        gate,
        limits: { ms: 5000 },
      };
      const result = await setup.play(options);
      expectEqual([result.status, result.error?.kind], ['timeout', 'timeout'], 'the outcome');
      expect(setup.elapsed <= 5250, `an end within 250 ms, found ${setup.elapsed}`);
    },
  ),
  the('the default time limit is one hour [P2]', async (setup) => {
    const result = await setup.play({ agent: scriptedModel([() => new Promise(() => {})]) });
    expectEqual(result.status, 'timeout', 'the status');
    expect(setup.elapsed >= 3_600_000 && setup.elapsed <= 3_600_250, `one hour, found ${setup.elapsed}`);
  }),
  the('a run without a time limit runs for any time', async (setup) => {
    const limits: Limits = { ms: Number.POSITIVE_INFINITY };
    const agent = scriptedModel([
      () => new Promise((resolve) => void setup.runtime.timer(1e9, () => resolve(textResponse('At last.')))),
    ]);
    const result = await setup.play({ agent, limits });
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('a limit that is not a number is rejected immediately', async (setup) => {
    for (const limit of [Number.NaN, -1, '5' as unknown as number]) {
      let thrown: unknown;
      try {
        setup.executor({ agent: scriptedModel([]), limits: { turns: limit } });
      } catch (error) {
        thrown = error;
      }
      expect(AgentError.is(thrown) && thrown.kind === 'invalid', `an error of kind invalid for ${limit}`);
    }
  }),
];

export const limitCases: readonly ExecutorCase[] = [
  ...turnCases,
  ...closingCases,
  ...callCases,
  ...budgetCases,
  ...timeCases,
];

import type { Limits, Pricing } from '@cobbler/agent';
import { AgentError, Budget, Executor } from '@cobbler/agent';
import type { ModelStep } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  probeTools,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('limits');

const priced: Pricing = () => ({ input: 1, output: 10 });

/** The tool always returns the same result, which these cases allow. */
const one = () => [probeTools().tool('one', { mayRepeat: true })];

const spent = { inputTokens: 4000, outputTokens: 1000 };

/**
 * An agent that reports realistic input tokens and a response of 1,000 tokens, or fewer if the request limits
 * it.
 */
const thousand: ModelStep = ({ messages, config }) => {
  const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
  return calls(['one'], { usage: { inputTokens, outputTokens: Math.min(1000, config?.maxTokens ?? 1000) } });
};

const tokenCases: readonly ExecutorCase[] = [
  the('a limit of one token allows no request [B1]', async (setup) => {
    const agent = scriptedModel([textResponse('Hello.')]);
    const result = await setup.play({ agent, limits: { tokens: 1 } });
    expectEqual([result.status, result.limit, agent.requests.length], ['limit', 'tokens', 0], 'the outcome');
  }),
  the('tokens never exceed the limit, and nearly all of them are used [B1]', async (setup) => {
    const agent = scriptedModel(Array.from({ length: 99 }, () => thousand));
    const result = await setup.play({ agent, tools: one(), limits: { tokens: 21_000, turns: 99 } });
    const used = result.metrics.totalInputTokens + result.metrics.totalOutputTokens;
    expectEqual([result.status, result.limit], ['limit', 'tokens'], 'the outcome');
    expect(used > 19_000 && used <= 21_000, `just under the limit of 21,000 tokens, found ${used}`);
  }),
  the('a request asks for a shorter response if the limit leaves less room', async (setup) => {
    const agent = scriptedModel([textResponse('Short.')]);
    await setup.play({ agent, limits: { tokens: 20_000 } });
    const maxTokens = agent.requests[0]?.config?.maxTokens ?? 0;
    expect(maxTokens > 19_000 && maxTokens < 20_000, `maxTokens just under the limit, found ${maxTokens}`);
  }),
  the(
    'a response cut short by a token limit of the run ends the run with that limit [P1, P4]',
    async (setup) => {
      const agent = scriptedModel([textResponse('Half of', { stop: 'max_tokens' })]);
      const result = await setup.play({ agent, limits: { tokens: 20_000 } });
      expectEqual([result.status, result.limit, result.text], ['limit', 'tokens', 'Half of'], 'the outcome');
    },
  ),
  the("a response of the agent's own maximum length never exceeds the limit [B1]", async (setup) => {
    for (const limits of [{ tokens: 40_000 }, { usd: 0.4 }]) {
      const maxResponse: ModelStep = ({ config }) =>
        textResponse('As long as it may be.', {
          usage: { inputTokens: 1, outputTokens: config?.maxTokens || 64_000 },
        });
      const agent = scriptedModel([maxResponse], {}, 64_000);
      const { metrics } = await setup.play({ agent, limits, pricing: priced });
      const used = metrics.totalInputTokens + metrics.totalOutputTokens;
      expect(used > 38_000 && used <= 40_000, `nearly all of 40,000 tokens, found ${used}`);
      expect(
        (metrics.usd ?? 0) <= 0.4 + 1e-9 || limits.usd === undefined,
        `at most $0.4, found ${metrics.usd}`,
      );
    }
  }),
  the('under a limit each request states its maximum response length [B1]', async (setup) => {
    const cases = [
      { own: undefined, limits: { tokens: 1_000_000 }, stated: 32_000 },
      { own: undefined, limits: { usd: 100 }, stated: 32_000 },
      { own: 64_000, limits: { tokens: 1_000_000 }, stated: 64_000 },
      { own: 500, limits: { tokens: 1_000_000 }, stated: 500 },
      { own: 64_000, limits: {}, stated: undefined },
    ];
    for (const { own, limits, stated } of cases) {
      const agent = scriptedModel([textResponse('Hello.')], {}, own);
      const { status } = await setup.play({ agent, limits, pricing: priced });
      expectEqual(
        [status, agent.requests[0]?.config?.maxTokens],
        ['complete', stated],
        `the status and maxTokens with the model's maximum ${own}`,
      );
    }
  }),
  the('the tokens wasted by a failed request count towards the limit [P14, B2]', async (setup) => {
    const budget = new Budget({ tokens: 100_000 });
    const error = new AgentError({ kind: 'network', message: 'cut', wasted: spent });
    await setup.play({ agent: scriptedModel([failedResponse(error)]) }, 'Go.', { budget });
    expectEqual(budget.tokens, 5000, 'the tokens counted');
  }),
  the('runs that share a budget share its limit [B1]', async (setup) => {
    const budget = new Budget({ tokens: 60_000 });
    const agent = () => scriptedModel(Array.from({ length: 9 }, () => calls(['one'], { usage: spent })));
    const runs = Array.from({ length: 3 }, () =>
      setup.run({ agent: agent(), tools: one() }, 'Go.', { budget }),
    );
    for (const run of runs) expectEqual((await setup.until(run)).limit, 'tokens', 'the limit');
    expect(
      budget.tokens <= 60_000 && budget.tokens >= 45_000,
      `nearly all tokens used, found ${budget.tokens}`,
    );
    expectEqual(budget.tokensLeft, 60_000 - budget.tokens, 'the tokens left, with no reservation open');
  }),
  the(
    'parallel runs never spend the same tokens twice, even if each uses its whole reservation [B1]',
    async (setup) => {
      const budget = new Budget({ tokens: 100_000 });
      const greedy: ModelStep = ({ config }) =>
        calls(['one'], { usage: { inputTokens: 10, outputTokens: config?.maxTokens ?? 32_000 } });
      const run = () =>
        setup.run({ agent: scriptedModel(Array.from({ length: 9 }, () => greedy)), tools: one() }, 'Go.', {
          budget,
        });
      const runs = Array.from({ length: 8 }, run);
      for (const each of runs) expectEqual((await setup.until(each)).limit, 'tokens', 'the limit');
      expect(budget.tokens <= 100_000, `at most the limit, found ${budget.tokens}`);
      expect(budget.tokens >= 75_000, `at least three quarters of the limit, found ${budget.tokens}`);
    },
  ),
  the('runs that share a budget share its turns and its tool calls [B1]', async (setup) => {
    const limits: readonly Limits[] = [{ turns: 7 }, { toolCalls: 7 }];
    for (const [index, shared] of limits.entries()) {
      const { tool, names } = probeTools();
      const agents = Array.from({ length: 3 }, () =>
        scriptedModel(Array.from({ length: 9 }, () => calls(['one', 'one']))),
      );
      const budget = new Budget(shared);
      const tools = [tool('one', { effect: 'read', mayRepeat: true })];
      const runs = agents.map((agent) => setup.run({ agent, tools }, 'Go.', { budget }));
      const name = index === 0 ? 'turns' : 'toolCalls';
      for (const run of runs) expectEqual((await setup.until(run)).limit, name, 'the limit');
      const requests = agents.reduce((sum, agent) => sum + agent.requests.length, 0);
      expectEqual(
        [index === 0 ? requests : names.length, budget.left(name)],
        [7, 0],
        'the amount used and the amount left',
      );
    }
  }),
  the(
    'a limit on turns includes the runs of its tools; the default of ten applies to each run alone [B1]',
    async (setup) => {
      const endless = () =>
        scriptedModel(Array.from({ length: 30 }, (_, n) => calls([{ name: 'look', arguments: { n } }])));
      for (const [limits, limit, requests] of [
        [{ turns: 6 }, 'turns', 6],
        [{}, undefined, 12],
      ] as const) {
        const { tool } = probeTools();
        const inner = endless();
        const look = tool('look', { effect: 'read' });
        const handsOn = tool('hand_on', {
          execute: async (_args, { budget, signal }) =>
            (
              await setup.executor({ agent: inner, tools: [look] }).run('Do a part.', { budget, signal })
                .result
            ).status,
        });
        const outer = scriptedModel([calls(['hand_on']), textResponse('Done.')]);
        const result = await setup.play({ agent: outer, tools: [handsOn], limits });
        const made = outer.requests.length + inner.requests.length;
        expectEqual([result.limit, made], [limit, requests], 'the limit reached and the number of requests');
      }
    },
  ),
  the('a turn whose request failed is refunded [B1]', async (setup) => {
    const budget = new Budget({ turns: 1 });
    const agent = scriptedModel([failedResponse(new AgentError({ kind: 'network', message: 'cut' }))]);
    await setup.play({ agent }, 'Go.', { budget });
    expectEqual(budget.left('turns'), 1, 'the turns left');
  }),
  the('a call that was denied is refunded [B1]', async (setup) => {
    const budget = new Budget({ toolCalls: 1 });
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    const gate = () => ({ type: 'deny', message: 'No.' }) as const;
    await setup.play({ agent, tools: one(), gate }, 'Go.', { budget });
    expectEqual(budget.left('toolCalls'), 1, 'the calls left');
  }),
  the('what a tool charges counts in the run and in the budget that it shares [B1, B2]', async (setup) => {
    const { tool, runs } = probeTools();
    const budget = new Budget({ tokens: 100_000 });
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    await setup.play({ agent, tools: [tool('one')], limits: { tokens: 50_000 } }, 'Go.', { budget });
    const own = runs[0]?.context.budget;
    const before = [own?.tokens ?? 0, budget.tokens] as const;
    own?.reserve(2000, 0).settle(1000, 0);
    expectEqual([own?.tokens, budget.tokens], [before[0] + 1000, before[1] + 1000], 'the tokens counted');
  }),
  the(
    'the limits of a run also apply inside a larger budget, to everything it starts [B1]',
    async (setup) => {
      const usage = { inputTokens: 4000, outputTokens: 1000 };
      const child = new Executor({
        agent: scriptedModel(Array.from({ length: 4 }, () => textResponse('Found.', { usage }))),
        pricing: priced,
      });
      const tool = child.asTool({ name: 'search', description: 'Searches.' });
      const search = () => calls([{ name: 'search', arguments: { prompt: 'Search.' } }], { usage });
      const agent = scriptedModel([search, search, search, search]);
      const budget = new Budget({ usd: 10 });
      const limits = { usd: 0.06, turns: 9 };
      const result = await setup.play({ agent, tools: [tool], limits, pricing: priced }, 'Go.', { budget });
      expectEqual([result.status, result.limit], ['limit', 'usd'], 'the outcome');
      expect(budget.usd <= 0.06 && budget.usd > 0, `at most the limit of the run, found ${budget.usd}`);
    },
  ),
  the('a run whose input is cached uses at least 95 % of its cost limit [B1]', async (setup) => {
    const cachePricing: Pricing = () => ({ input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 });
    let before = 0;
    const step: ModelStep = ({ messages }) => {
      const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
      const usage = {
        inputTokens,
        outputTokens: 100,
        cacheReadTokens: before,
        cacheWriteTokens: inputTokens - before,
      };
      before = inputTokens;
      return calls(['one'], { usage });
    };
    const agent = scriptedModel(Array.from({ length: 99 }, () => step));
    const limits = { usd: 0.4, turns: 99 };
    const prompt = 'Go. '.repeat(20_000);
    const { limit, metrics } = await setup.play(
      { agent, tools: one(), limits, pricing: cachePricing },
      prompt,
    );
    expectEqual(limit, 'usd', 'the limit');
    const { usd = 0 } = metrics;
    expect(usd >= 0.95 * 0.4 && usd <= 0.4, `95 to 100 % of the limit, found ${usd}`);
  }),
  the('eight runs that share a budget all get an answer [B4]', async (setup) => {
    const answer: ModelStep = ({ messages }) =>
      textResponse('Here it is.', {
        usage: { inputTokens: Math.ceil(JSON.stringify(messages).length / 4), outputTokens: 1000 },
      });
    const budget = new Budget({ usd: 0.4 });
    const run = () =>
      setup.run({ agent: scriptedModel([answer], {}, 20_000), pricing: priced }, 'Go.', { budget });
    for (const each of Array.from({ length: 8 }, run))
      expectEqual((await setup.until(each)).status, 'complete', 'the status');
    expect(budget.usd < 0.1, `what eight answers cost, found ${budget.usd}`);
  }),
  the(
    'the budget of an executor counts all its runs, except those with a budget of their own',
    async (setup) => {
      const [budget, other] = [new Budget(), new Budget()];
      const agent = () => scriptedModel([textResponse('Hello.', { usage: spent })]);
      await setup.play({ agent: agent(), budget });
      await setup.play({ agent: agent(), budget }, 'Go.', { budget: other });
      expectEqual([budget.tokens, other.tokens], [5000, 5000], 'the tokens counted');
    },
  ),
  the('a budget without limits still counts', async (setup) => {
    const budget = new Budget();
    await setup.play({ agent: scriptedModel([textResponse('Hello.', { usage: spent })]) }, 'Go.', { budget });
    expectEqual(budget.tokens, 5000, 'the tokens counted');
  }),
];

const moneyCases: readonly ExecutorCase[] = [
  the('with a money limit a model without a price is rejected before any request [B3]', async (setup) => {
    const agent = scriptedModel([textResponse('Hello.')]);
    const result = await setup.play({ agent, limits: { usd: 5 } });
    expectEqual([result.error?.kind, result.error?.code], ['invalid', 'unpriced'], 'the error');
    expectEqual(agent.requests.length, 0, 'the number of requests');
  }),
  the('a model without a price runs if allowed', async (setup) => {
    const result = await setup.play({
      agent: scriptedModel([textResponse('Hello.')]),
      limits: { usd: 5 },
      allowUnpriced: true,
    });
    expectEqual(
      [result.status, result.metrics.usd],
      ['complete', undefined],
      'the status and the unknown cost',
    );
  }),
  the('the cost never exceeds the limit, and nearly all of it is spent [B1]', async (setup) => {
    const agent = scriptedModel(Array.from({ length: 99 }, () => thousand));
    const result = await setup.play({
      agent,
      tools: one(),
      limits: { usd: 0.05, turns: 99 },
      pricing: priced,
    });
    expectEqual([result.status, result.limit], ['limit', 'usd'], 'the outcome');
    const usd = result.metrics.usd ?? 0;
    expect(usd > 0.045 && usd <= 0.05, `nearly the whole limit spent, found ${usd}`);
  }),
  the('a response shortened by a money limit ends the run with that limit [P1, P4]', async (setup) => {
    const agent = scriptedModel([textResponse('Half', { stop: 'max_tokens' })]);
    const result = await setup.play({ agent, limits: { usd: 0.05 }, pricing: priced });
    expectEqual([result.status, result.limit], ['limit', 'usd'], 'the outcome');
    expect((agent.requests[0]?.config?.maxTokens ?? 0) <= 5000, 'no more tokens than the money allows');
  }),
  the(
    'a pricing function that throws makes the cost unknown, and no response is lost [B3]',
    async (setup) => {
      const pricing: Pricing = () => {
        throw new Error('no list today');
      };
      const result = await setup.play({ agent: scriptedModel([textResponse('Hello.')]), pricing });
      expectEqual(
        [result.status, result.metrics.usd],
        ['complete', undefined],
        'the status and the unknown cost',
      );
    },
  ),
];

export const budgetCases: readonly ExecutorCase[] = [...tokenCases, ...moneyCases];

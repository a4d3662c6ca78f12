import type { ExecutorOptions, Limits, Pricing } from '@cobbler/agent';
import { AgentError, Budget } from '@cobbler/agent';
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
import type { ExecutorCase } from './setup/cases.ts';
import { group } from './setup/cases.ts';

const the = group('limits');

const priced: Pricing = () => ({ input: 1, output: 10 });

/** An agent that calls the same tool for ever. */
function loop(turns: number, last: ModelStep = textResponse('Closing words.')): ModelStep[] {
  return [...Array.from({ length: turns }, () => calls(['one'])), last];
}

/** What it gives is always the same, and here it may be. */
const one = () => [probeTools().tool('one', { mayRepeat: true })];

const turnCases: readonly ExecutorCase[] = [
  the('the run ends when its requests are used up [P1]', async (stage) => {
    const agent = scriptedModel(loop(3));
    const result = await stage.play({ agent, tools: one(), limits: { turns: 3 } });
    expectEqual([result.status, result.limit, result.error?.kind], ['limit', 'turns', 'limit'], 'the end');
    expectEqual(agent.requests.length, 3, 'the number of requests');
  }),
  the('ten requests are the limit unless another is set [P1]', async (stage) => {
    const agent = scriptedModel(loop(20));
    const result = await stage.play({ agent, tools: one() });
    expectEqual([result.limit, agent.requests.length], ['turns', 10], 'the end');
  }),
  the('a run that ends by itself within its limit is complete', async (stage) => {
    const result = await stage.play({
      agent: scriptedModel(loop(2)),
      tools: one(),
      limits: { turns: 3, toolCalls: 2 },
    });
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('a limit of no requests makes none [P1]', async (stage) => {
    const agent = scriptedModel([textResponse('Hello.')]);
    const result = await stage.play({ agent, limits: { turns: 0 } });
    expectEqual([result.limit, agent.requests.length], ['turns', 0], 'the end');
  }),
  the('an agent that pauses for ever runs into the limit [P1]', async (stage) => {
    const agent = scriptedModel(Array.from({ length: 20 }, () => textResponse('Wait.', { stop: 'pause' })));
    const result = await stage.play({ agent, limits: { turns: 4 } });
    expectEqual([result.limit, agent.requests.length], ['turns', 4], 'the end');
  }),
];

const closingCases: readonly ExecutorCase[] = [
  the('with finalize one closing answer follows, tools declared and forbidden [P1]', async (stage) => {
    const agent = scriptedModel(loop(2));
    const run = stage.run({
      agent,
      tools: one(),
      limits: { turns: 2 },
      onLimit: 'finalize',
      request: { maxTokens: 9 },
    });
    const result = await stage.until(run);
    expectEqual([result.status, result.limit, result.text], ['limit', 'turns', 'Closing words.'], 'the end');
    const last = agent.requests[2];
    expectEqual(last?.config, { maxTokens: 9, toolChoice: 'none' }, 'the closing request');
    expect(last?.tools === agent.requests[0]?.tools && last?.tools.length === 1, 'the same tools declared');
    expectEqual(ofType(stage.storedOf(run), 'stop_requested')[0]?.limit, 'turns', 'the limit recorded');
  }),
  the('a closing answer that calls tools all the same is the end [P1]', async (stage) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['one']), calls(['one']), textResponse('Never asked.')]);
    const options: ExecutorOptions = {
      agent,
      tools: [tool('one')],
      limits: { turns: 1 },
      onLimit: 'finalize',
    };
    const result = await stage.play(options);
    expectEqual([result.limit, agent.requests.length, names.length], ['turns', 2, 1], 'the end');
  }),
  the('a closing answer that pauses is the end [P1]', async (stage) => {
    const agent = scriptedModel([
      calls(['one']),
      textResponse('Wait.', { stop: 'pause' }),
      textResponse('Never asked.'),
    ]);
    const result = await stage.play({ agent, tools: one(), limits: { turns: 1 }, onLimit: 'finalize' });
    expectEqual([result.limit, agent.requests.length], ['turns', 2], 'the end');
  }),
  the('a closing request that fails says so [P1]', async (stage) => {
    const agent = scriptedModel([
      calls(['one']),
      failedResponse(new AgentError({ kind: 'network', message: 'gone' })),
    ]);
    const result = await stage.play({ agent, tools: one(), limits: { turns: 1 }, onLimit: 'finalize' });
    expectEqual([result.status, result.error?.kind], ['failed', 'network'], 'the end');
  }),
];

const callCases: readonly ExecutorCase[] = [
  the('a batch is cut where the tool calls are used up [P1, P12]', async (stage) => {
    const { tool, names } = probeTools();
    const agent = scriptedModel([calls(['one']), calls(['one', 'one', 'one'])]);
    const result = await stage.play({ agent, tools: [tool('one')], limits: { toolCalls: 3 } });
    expectEqual([result.status, result.limit, names.length], ['limit', 'toolCalls', 3], 'the end');
    expectEqual(
      resultsOf(result.messages).map(({ notRun }) => notRun === true),
      [false, false, false, true],
      'what was not run',
    );
  }),
  the('with finalize the cut batch is answered and one closing answer follows [P1, P12]', async (stage) => {
    const agent = scriptedModel([calls(['one', 'one']), textResponse('Closing words.')]);
    const options: ExecutorOptions = { agent, tools: one(), limits: { toolCalls: 1 }, onLimit: 'finalize' };
    const result = await stage.play(options);
    expectEqual([result.limit, result.text], ['toolCalls', 'Closing words.'], 'the end');
    expectEqual(agent.requests[1]?.messages.length, 4, 'the messages of the closing request');
    expectEqual(agent.requests[1]?.config?.toolChoice, 'none', 'the choice of tools');
  }),
  the('calls that were refused do not count as run', async (stage) => {
    const agent = scriptedModel([calls(['nobody', 'nobody']), calls(['one']), textResponse('Done.')]);
    const result = await stage.play({ agent, tools: one(), limits: { toolCalls: 2 } });
    expectEqual([result.status, result.metrics.toolCalls], ['complete', 1], 'the end');
  }),
];

const spent = { inputTokens: 4000, outputTokens: 1000 };

/** An agent that uses what a real one would for such a request, and a thousand tokens or what it may to answer. */
const thousand: ModelStep = ({ messages, config }) => {
  const inputTokens = Math.ceil(JSON.stringify(messages).length / 4);
  return calls(['one'], { usage: { inputTokens, outputTokens: Math.min(1000, config?.maxTokens ?? 1000) } });
};

const budgetCases: readonly ExecutorCase[] = [
  the('a limit of one token makes no request [B1]', async (stage) => {
    const agent = scriptedModel([textResponse('Hello.')]);
    const result = await stage.play({ agent, limits: { tokens: 1 } });
    expectEqual([result.status, result.limit, agent.requests.length], ['limit', 'tokens', 0], 'the end');
  }),
  the('tokens are never used above the limit, and nearly all of them are used [B1]', async (stage) => {
    const agent = scriptedModel(Array.from({ length: 99 }, () => thousand));
    const result = await stage.play({ agent, tools: one(), limits: { tokens: 21_000, turns: 99 } });
    const used = result.metrics.totalInputTokens + result.metrics.totalOutputTokens;
    expectEqual([result.status, result.limit], ['limit', 'tokens'], 'the end');
    expect(used > 19_000 && used <= 21_000, `just under the limit, found ${used}`);
  }),
  the('where the limit leaves less room the answer is made shorter', async (stage) => {
    const agent = scriptedModel([textResponse('Short.')]);
    await stage.play({ agent, limits: { tokens: 20_000 } });
    const most = agent.requests[0]?.config?.maxTokens ?? 0;
    expect(most > 19_000 && most < 20_000, `most tokens just under the limit, found ${most}`);
  }),
  the('an answer that our limit cut short ends the run with that limit [P1, P4]', async (stage) => {
    const agent = scriptedModel([textResponse('Half of', { stop: 'max_tokens' })]);
    const result = await stage.play({ agent, limits: { tokens: 20_000 } });
    expectEqual([result.status, result.limit, result.text], ['limit', 'tokens', 'Half of'], 'the end');
  }),
  the("a response of the agent's own maximum never passes the limit [B1]", async (stage) => {
    for (const limits of [{ tokens: 40_000 }, { usd: 0.4 }]) {
      const longest: ModelStep = ({ config }) =>
        textResponse('As long as it may be.', {
          usage: { inputTokens: 1, outputTokens: config?.maxTokens || 64_000 },
        });
      const agent = scriptedModel([longest], {}, 64_000);
      const { metrics } = await stage.play({ agent, limits, pricing: priced });
      const used = metrics.totalInputTokens + metrics.totalOutputTokens;
      expect(used > 38_000 && used <= 40_000, `nearly all of 40,000 tokens, found ${used}`);
      expect(
        (metrics.usd ?? 0) <= 0.4 + 1e-9 || limits.usd === undefined,
        `at most $0.4, found ${metrics.usd}`,
      );
    }
  }),
  the('under a limit each request states how long its response may be [B1]', async (stage) => {
    const cases = [
      { own: undefined, limits: { tokens: 1_000_000 }, stated: 32_000 },
      { own: undefined, limits: { usd: 100 }, stated: 32_000 },
      { own: 64_000, limits: { tokens: 1_000_000 }, stated: 64_000 },
      { own: 500, limits: { tokens: 1_000_000 }, stated: 500 },
      { own: 64_000, limits: {}, stated: undefined },
    ];
    for (const { own, limits, stated } of cases) {
      const agent = scriptedModel([textResponse('Hello.')], {}, own);
      const { status } = await stage.play({ agent, limits, pricing: priced });
      expectEqual([status, agent.requests[0]?.config?.maxTokens], ['complete', stated], `with ${own}`);
    }
  }),
  the('what a failed request wasted counts towards the limit [P14, B2]', async (stage) => {
    const budget = new Budget({ tokens: 100_000 });
    const error = new AgentError({ kind: 'network', message: 'cut', wasted: spent });
    await stage.play({ agent: scriptedModel([failedResponse(error)]) }, 'Go.', { budget });
    expectEqual(budget.tokens, 5000, 'the tokens booked');
  }),
  the('runs that share a budget share its limit [B1]', async (stage) => {
    const budget = new Budget({ tokens: 60_000 });
    const agent = () => scriptedModel(Array.from({ length: 9 }, () => calls(['one'], { usage: spent })));
    const runs = Array.from({ length: 3 }, () =>
      stage.run({ agent: agent(), tools: one() }, 'Go.', { budget }),
    );
    for (const run of runs) expectEqual((await stage.until(run)).limit, 'tokens', 'the limit');
    expect(budget.tokens <= 60_000 && budget.tokens >= 45_000, `nearly all used, found ${budget.tokens}`);
    expectEqual(budget.tokensLeft, 60_000 - budget.tokens, 'what is left: nothing is held back any more');
  }),
  the(
    'runs side by side never spend the same rest twice, though each takes all it may [B1]',
    async (stage) => {
      const budget = new Budget({ tokens: 100_000 });
      const greedy: ModelStep = ({ config }) =>
        calls(['one'], { usage: { inputTokens: 10, outputTokens: config?.maxTokens ?? 32_000 } });
      const run = () =>
        stage.run({ agent: scriptedModel(Array.from({ length: 9 }, () => greedy)), tools: one() }, 'Go.', {
          budget,
        });
      const runs = Array.from({ length: 8 }, run);
      for (const each of runs) expectEqual((await stage.until(each)).limit, 'tokens', 'the limit');
      expect(budget.tokens <= 100_000, `at most the limit, found ${budget.tokens}`);
      expect(budget.tokens >= 75_000, `at least three quarters of it, found ${budget.tokens}`);
    },
  ),
  the('runs that share a budget share its turns and its tool calls [B1]', async (stage) => {
    const limits: readonly Limits[] = [{ turns: 7 }, { toolCalls: 7 }];
    for (const [index, shared] of limits.entries()) {
      const { tool, names } = probeTools();
      const agents = Array.from({ length: 3 }, () =>
        scriptedModel(Array.from({ length: 9 }, () => calls(['one', 'one']))),
      );
      const budget = new Budget(shared);
      const tools = [tool('one', { effect: 'read', mayRepeat: true })];
      const runs = agents.map((agent) => stage.run({ agent, tools }, 'Go.', { budget }));
      const name = index === 0 ? 'turns' : 'toolCalls';
      for (const run of runs) expectEqual((await stage.until(run)).limit, name, 'the limit');
      const requests = agents.reduce((sum, agent) => sum + agent.requests.length, 0);
      expectEqual([index === 0 ? requests : names.length, budget.left(name)], [7, 0], 'what was used');
    }
  }),
  the(
    'a limit on turns holds for the runs of its tools too; ten are the limit of each run alone [B1]',
    async (stage) => {
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
              await stage.executor({ agent: inner, tools: [look] }).run('Do a part.', { budget, signal })
                .result
            ).status,
        });
        const outer = scriptedModel([calls(['hand_on']), textResponse('Done.')]);
        const result = await stage.play({ agent: outer, tools: [handsOn], limits });
        const made = outer.requests.length + inner.requests.length;
        expectEqual([result.limit, made], [limit, requests], 'the end and the requests made');
      }
    },
  ),
  the('a turn whose request failed is given back [B1]', async (stage) => {
    const budget = new Budget({ turns: 1 });
    const agent = scriptedModel([failedResponse(new AgentError({ kind: 'network', message: 'cut' }))]);
    await stage.play({ agent }, 'Go.', { budget });
    expectEqual(budget.left('turns'), 1, 'the turns left');
  }),
  the('a call that was refused is given back [B1]', async (stage) => {
    const budget = new Budget({ toolCalls: 1 });
    const agent = scriptedModel([calls(['one']), textResponse('Done.')]);
    const gate = () => ({ type: 'deny', message: 'No.' }) as const;
    await stage.play({ agent, tools: one(), gate }, 'Go.', { budget });
    expectEqual(budget.left('toolCalls'), 1, 'the calls left');
  }),
  the('a tool draws on the budget of the run [B1]', async (stage) => {
    const { tool, runs } = probeTools();
    const budget = new Budget({ tokens: 100_000 });
    await stage.play(
      { agent: scriptedModel([calls(['one']), textResponse('Done.')]), tools: [tool('one')] },
      'Go.',
      {
        budget,
      },
    );
    expect(runs[0]?.context.budget === budget, 'the same budget');
  }),
  the('a budget without limits counts all the same', async (stage) => {
    const budget = new Budget();
    await stage.play({ agent: scriptedModel([textResponse('Hello.', { usage: spent })]) }, 'Go.', { budget });
    expectEqual(budget.tokens, 5000, 'the tokens booked');
  }),
];

const moneyCases: readonly ExecutorCase[] = [
  the('under a money limit a model without a price is refused before any request [B3]', async (stage) => {
    const agent = scriptedModel([textResponse('Hello.')]);
    const result = await stage.play({ agent, limits: { usd: 5 } });
    expectEqual([result.error?.kind, result.error?.code], ['invalid', 'unpriced'], 'the error');
    expectEqual(agent.requests.length, 0, 'the number of requests');
  }),
  the('unless models without a price are allowed', async (stage) => {
    const result = await stage.play({
      agent: scriptedModel([textResponse('Hello.')]),
      limits: { usd: 5 },
      allowUnpriced: true,
    });
    expectEqual([result.status, result.metrics.usd], ['complete', undefined], 'the end and the unknown cost');
  }),
  the('money is never spent above the limit, and nearly all of it is spent [B1]', async (stage) => {
    const agent = scriptedModel(Array.from({ length: 99 }, () => thousand));
    const result = await stage.play({
      agent,
      tools: one(),
      limits: { usd: 0.05, turns: 99 },
      pricing: priced,
    });
    expectEqual([result.status, result.limit], ['limit', 'usd'], 'the end');
    const usd = result.metrics.usd ?? 0;
    expect(usd > 0.045 && usd <= 0.05, `nearly all spent, found ${usd}`);
  }),
  the('an answer made shorter for money ends the run with that limit [P1, P4]', async (stage) => {
    const agent = scriptedModel([textResponse('Half', { stop: 'max_tokens' })]);
    const result = await stage.play({ agent, limits: { usd: 0.05 }, pricing: priced });
    expectEqual([result.status, result.limit], ['limit', 'usd'], 'the end');
    expect((agent.requests[0]?.config?.maxTokens ?? 0) <= 5000, 'no more tokens than the money pays for');
  }),
  the('a price list that throws knows no price, and no answer is lost by it [B3]', async (stage) => {
    const pricing: Pricing = () => {
      throw new Error('no list today');
    };
    const result = await stage.play({ agent: scriptedModel([textResponse('Hello.')]), pricing });
    expectEqual([result.status, result.metrics.usd], ['complete', undefined], 'the end and the unknown cost');
  }),
];

const timeCases: readonly ExecutorCase[] = [
  the('the run ends as timeout when its time is up [P2]', async (stage) => {
    const agent = scriptedModel([() => new Promise(() => {})]);
    const result = await stage.play({ agent, limits: { ms: 5000 } });
    expectEqual([result.status, result.error?.kind], ['timeout', 'timeout'], 'the end');
    expect(stage.elapsed >= 5000 && stage.elapsed <= 5250, `an end within 250 ms, found ${stage.elapsed}`);
  }),
  the('a run whose time is up in a gate that hangs ends as timeout as well [P2, P4]', async (stage) => {
    const gate = () => new Promise<never>(() => {});
    const options: ExecutorOptions = {
      agent: scriptedModel([calls(['one'])]),
      tools: one(),
      gate,
      limits: { ms: 5000 },
    };
    const result = await stage.play(options);
    expectEqual([result.status, result.error?.kind], ['timeout', 'timeout'], 'the end');
    expect(stage.elapsed <= 5250, `an end within 250 ms, found ${stage.elapsed}`);
  }),
  the('an hour is the limit unless another is set [P2]', async (stage) => {
    const result = await stage.play({ agent: scriptedModel([() => new Promise(() => {})]) });
    expectEqual(result.status, 'timeout', 'the status');
    expect(stage.elapsed >= 3_600_000 && stage.elapsed <= 3_600_250, `an hour, found ${stage.elapsed}`);
  }),
  the('without a limit on time none is kept', async (stage) => {
    const limits: Limits = { ms: Number.POSITIVE_INFINITY };
    const agent = scriptedModel([
      () => new Promise((resolve) => void stage.runtime.timer(1e9, () => resolve(textResponse('At last.')))),
    ]);
    const result = await stage.play({ agent, limits });
    expectEqual(result.status, 'complete', 'the status');
  }),
  the('a limit that is no number is a mistake told at once', async (stage) => {
    for (const limit of [Number.NaN, -1, '5' as unknown as number]) {
      let thrown: unknown;
      try {
        stage.executor({ agent: scriptedModel([]), limits: { turns: limit } });
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
  ...moneyCases,
  ...timeCases,
];

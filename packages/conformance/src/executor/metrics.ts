import type { Price, Pricing, RunEvent, Usage } from '@cobbler/agent';
import { AgentError, costOf } from '@cobbler/agent';
import type { ModelStep } from '@cobbler/agent/testing';
import {
  calls,
  expect,
  expectEqual,
  failedResponse,
  ofType,
  probeTools,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from './setup/case.ts';
import { group } from './setup/case.ts';

const the = group('metrics');

const price: Price = { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 };
const listed: Pricing = (provider, model) =>
  provider === 'puppet' && model === 'puppet-model' ? price : undefined;

const cached = {
  inputTokens: 1000,
  outputTokens: 100,
  cacheReadTokens: 800,
  cacheWriteTokens: 150,
  reasoningTokens: 40,
};
const wasted = { inputTokens: 500, outputTokens: 10 };

export const metricCases: readonly ExecutorCase[] = [
  the('tokens and requests are added up over all responses [P14]', async (setup) => {
    const { tool } = probeTools();
    const agent = scriptedModel([
      calls(['one', 'one'], { usage: cached, attempts: 3, wasted }),
      textResponse('Done.', { usage: { inputTokens: 2000, outputTokens: 50, estimated: true } }),
    ]);
    const { metrics } = await setup.play({ agent, tools: [tool('one')] });
    const { totalInputTokens, totalOutputTokens, invocations, attempts, toolCalls } = metrics;
    expectEqual([totalInputTokens, totalOutputTokens, invocations], [3000, 150, 2], 'the counts of S0.24');
    expectEqual(
      [metrics.cacheReadTokens, metrics.cacheWriteTokens, metrics.reasoningTokens],
      [800, 150, 40],
      'the detailed counts',
    );
    expectEqual([attempts, toolCalls], [4, 2], 'the attempts and tool calls');
    expectEqual(metrics.wasted, wasted, 'the wasted tokens, counted separately');
  }),
  the('a run counts only its own usage, not that of earlier runs in the session [P14]', async (setup) => {
    await setup.play({ agent: scriptedModel([textResponse('One.')]) }, 'Go.', { sessionId: 'one' });
    const { metrics } = await setup.play({ agent: scriptedModel([textResponse('Two.')]) }, 'Continue.', {
      sessionId: 'one',
    });
    expectEqual([metrics.invocations, metrics.totalInputTokens], [1, 100], 'the counts');
  }),
  the('a failed request counts its attempts and wasted tokens but no response [P14]', async (setup) => {
    const error = new AgentError({ kind: 'network', message: 'cut', attempts: 4, wasted });
    const { metrics } = await setup.play({ agent: scriptedModel([failedResponse(error)]) });
    expectEqual([metrics.invocations, metrics.attempts, metrics.totalInputTokens], [0, 4, 0], 'the counts');
    expectEqual(metrics.wasted, wasted, 'the wasted tokens');
  }),
  the('with a known price the cost is known and includes cached and wasted tokens [P14]', async (setup) => {
    const agent = scriptedModel([textResponse('Done.', { usage: cached, attempts: 2, wasted })]);
    const { metrics } = await setup.play({ agent, pricing: listed });
    // 50 x 3 + 800 x 0.3 + 150 x 3.75 + 100 x 15, and 500 x 3 + 10 x 15 wasted, in millionths of a dollar.
    expect(Math.abs((metrics.usd ?? 0) - 0.004_102_5) < 1e-9, `a cost of $0.0041025, found ${metrics.usd}`);
    expectEqual(metrics.usd, costOf(cached, price) + costOf(wasted, price), 'the cost according to costOf');
  }),
  the(
    'tokens wasted by a failed request cost money, and count when the session resumes [P14]',
    async (setup) => {
      const error = new AgentError({ kind: 'network', message: 'cut', attempts: 4, wasted });
      const agent = scriptedModel([failedResponse(error), textResponse('Done.', { usage: cached })]);
      const { metrics } = await setup.play({ agent, pricing: listed }, 'Go.', { sessionId: 'one' });
      expectEqual(metrics.usd, costOf(wasted, price), 'the cost of the failure');
      const again = await setup.until(setup.resume({ agent, pricing: listed }, 'one'));
      const both = costOf(wasted, price) + costOf(cached, price);
      expect(Math.abs((again.metrics.usd ?? 0) - both) < 1e-12, `both costs, found ${again.metrics.usd}`);
      await setup.play({ agent: scriptedModel([failedResponse(error)]), pricing: listed }, 'Go.', {
        sessionId: 'two',
      });
      // Enough for a short response, but not in addition to the wasted tokens.
      const options = {
        agent: scriptedModel([textResponse('Never asked.')]),
        pricing: listed,
        limits: { usd: 0.005 },
      };
      const third = await setup.until(setup.resume(options, 'two'));
      expectEqual(third.limit, 'usd', 'the limit of a run in a session that has already spent it');
    },
  ),
  the('wasted tokens of unknown price make the cost unknown [B3]', async (setup) => {
    const error = new AgentError({ kind: 'network', message: 'cut', wasted });
    const { metrics } = await setup.play({ agent: scriptedModel([failedResponse(error)]) });
    expectEqual('usd' in metrics, false, 'whether a cost is set');
  }),
  the('one response without a price makes the cost unknown, not smaller [B3]', async (setup) => {
    const pricing: Pricing = (_provider, model) => (model === 'dear' ? price : undefined);
    const { tool } = probeTools();
    const agent = scriptedModel([calls(['one'], { model: 'dear' }), textResponse('Done.')]);
    const { metrics } = await setup.play({ agent, pricing, tools: [tool('one')] });
    expectEqual('usd' in metrics, false, 'whether a cost is set');
  }),
  the('a response whose model has no price costs as much as the requested model', async (setup) => {
    const agent = scriptedModel([textResponse('Done.', { model: 'puppet-model-2026-11-01' })]);
    const { metrics } = await setup.play({ agent, pricing: listed });
    expect((metrics.usd ?? 0) > 0, 'a cost');
  }),
  the('a continued session reports what its first response does not read from the cache', async (setup) => {
    const usage = { inputTokens: 50_100, outputTokens: 10 };
    const continued = async (sessionId: string, last: ModelStep, waitMs = 1_000) => {
      const breaks: RunEvent[] = [];
      const cached = { ...usage, cacheReadTokens: 10_000, cacheWriteTokens: 40_000 };
      const step = calls(['one'], { usage: cached });
      const tools = [probeTools().tool('one')];
      const first = scriptedModel([step, step, textResponse('One.', { usage: cached })]);
      const onEvent = (event: RunEvent) => void (event.type === 'cache_break' && breaks.push(event));
      const options = { tools, pricing: () => price };
      await setup.play({ agent: first, ...options }, 'Go.', { sessionId, onEvent });
      await setup.until(new Promise<void>((resolve) => void setup.runtime.timer(waitMs, resolve)));
      await setup.play({ agent: scriptedModel([last]), ...options }, 'Continue.', { sessionId, onEvent });
      return breaks.map((event) => ({
        ...event,
        usd: event.type === 'cache_break' && event.usd?.toFixed(6),
      }));
    };
    const answer = (details: Partial<Usage>, model = 'puppet-model') =>
      textResponse('Two.', { model, usage: { ...usage, ...details } });
    const previous = { provider: 'puppet', model: 'puppet-model' };
    const miss = { type: 'cache_break', layer: 'tools', block: 0, tokens: 50_000, previous };
    // 50,000 tokens cost $3.75 per million in place of $0.30.
    const written = { cacheReadTokens: 0, cacheWriteTokens: 50_100 };
    expectEqual(
      await continued('a', answer(written, 'other')),
      [{ ...miss, usd: '0.172500' }],
      'another model',
    );
    const plain = { cacheReadTokens: 0 };
    expectEqual(await continued('b', answer(plain)), [{ ...miss, usd: '0.135000' }], 'no cache');
    const part = { cacheReadTokens: 8_000, cacheWriteTokens: 42_100 };
    expectEqual(
      await continued('c', answer(part)),
      [{ ...miss, layer: 'history', tokens: 42_000, usd: '0.144900' }],
      'a part of the messages',
    );
    const shorter = textResponse('Two.', { usage: { ...usage, ...plain, inputTokens: 30_000 } });
    expectEqual(
      await continued('h', shorter),
      [{ ...miss, tokens: 30_000, usd: '0.081000' }],
      'a request that has fewer tokens than the cache',
    );
    const read = { cacheReadTokens: 50_000, cacheWriteTokens: 100 };
    expectEqual(await continued('d', answer(read)), [], 'a request that is read from the cache');
    expectEqual(await continued('e', answer(written), 300_000), [], 'a cache that has expired');
    expectEqual(await continued('f', answer({})), [], 'a service that reports no cache');
    const own = { type: 'cache_break', layer: 'system', block: 0, tokens: 60_000 } as const;
    const reported: ModelStep = (_, { emit }) => {
      emit?.(own);
      return Promise.resolve(answer(written));
    };
    expectEqual(await continued('g', reported), [{ ...own, usd: '0.172500' }], 'the report of an agent');
  }),
  the('a run without a response costs nothing [P14]', async (setup) => {
    const { metrics } = await setup.play({ agent: scriptedModel([failedResponse(new Error('gone'))]) });
    expectEqual(metrics.usd, 0, 'the cost');
  }),
  the('the metrics contain the time of the whole run, of the model and of the tools', async (setup) => {
    const { tool } = probeTools();
    const later = <Value>(ms: number, value: Value) =>
      new Promise<Value>((resolve) => void setup.runtime.timer(ms, () => resolve(value)));
    const slow = tool('slow', { effect: 'read', execute: () => later(300, 'done') });
    const agent = scriptedModel([
      () => later(1000, calls(['slow', 'slow'])),
      () => later(500, textResponse('Done.')),
    ]);
    const run = setup.run({ agent, tools: [slow] });
    const { metrics } = await setup.until(run);
    expectEqual([metrics.modelMs, metrics.toolMs, metrics.waitedMs], [1500, 600, 0], 'the times');
    expect(
      metrics.durationMs >= 1800 && metrics.durationMs < 2400,
      `the total time, found ${metrics.durationMs}`,
    );
    expectEqual(
      ofType(setup.storedOf(run), 'assistant').map(({ durationMs }) => durationMs),
      [1000, 500],
      'the time of each request',
    );
  }),
];

import type { Price, Pricing } from '@cobbler/agent';
import { AgentError, costOf } from '@cobbler/agent';
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
import type { ExecutorCase } from './setup/cases.ts';
import { group } from './setup/cases.ts';

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
  the('tokens and requests are added up over all answers [P14]', async (stage) => {
    const { tool } = probeTools();
    const agent = scriptedModel([
      calls(['one', 'one'], { usage: cached, attempts: 3, wasted }),
      textResponse('Done.', { usage: { inputTokens: 2000, outputTokens: 50, estimated: true } }),
    ]);
    const { metrics } = await stage.play({ agent, tools: [tool('one')] });
    const { totalInputTokens, totalOutputTokens, invocations, attempts, toolCalls } = metrics;
    expectEqual([totalInputTokens, totalOutputTokens, invocations], [3000, 150, 2], 'what S0.24 counts');
    expectEqual(
      [metrics.cacheReadTokens, metrics.cacheWriteTokens, metrics.reasoningTokens],
      [800, 150, 40],
      'the details',
    );
    expectEqual([attempts, toolCalls], [4, 2], 'the attempts and tool calls');
    expectEqual(metrics.wasted, wasted, 'what was wasted, kept apart');
  }),
  the('a run counts only itself, not what its session had before [P14]', async (stage) => {
    await stage.play({ agent: scriptedModel([textResponse('One.')]) }, 'Go.', { sessionId: 'one' });
    const { metrics } = await stage.play({ agent: scriptedModel([textResponse('Two.')]) }, 'Go on.', {
      sessionId: 'one',
    });
    expectEqual([metrics.invocations, metrics.totalInputTokens], [1, 100], 'the counts');
  }),
  the('a failed request counts its attempts and what it wasted, and no answer [P14]', async (stage) => {
    const error = new AgentError({ kind: 'network', message: 'cut', attempts: 4, wasted });
    const { metrics } = await stage.play({ agent: scriptedModel([failedResponse(error)]) });
    expectEqual([metrics.invocations, metrics.attempts, metrics.totalInputTokens], [0, 4, 0], 'the counts');
    expectEqual(metrics.wasted, wasted, 'what was wasted');
  }),
  the('with a known price the cost is known, cached and wasted tokens included [P14]', async (stage) => {
    const agent = scriptedModel([textResponse('Done.', { usage: cached, attempts: 2, wasted })]);
    const { metrics } = await stage.play({ agent, pricing: listed });
    // 50 x 3 + 800 x 0.3 + 150 x 3.75 + 100 x 15, and 500 x 3 + 10 x 15 wasted, in millionths of a dollar.
    expect(Math.abs((metrics.usd ?? 0) - 0.004_102_5) < 1e-9, `the cost, found ${metrics.usd}`);
    expectEqual(metrics.usd, costOf(cached, price) + costOf(wasted, price), 'the cost as costOf has it');
  }),
  the(
    'what a failed request wasted is money too, and counts when the session is taken up again [P14]',
    async (stage) => {
      const error = new AgentError({ kind: 'network', message: 'cut', attempts: 4, wasted });
      const agent = scriptedModel([failedResponse(error), textResponse('Done.', { usage: cached })]);
      const { metrics } = await stage.play({ agent, pricing: listed }, 'Go.', { sessionId: 'one' });
      expectEqual(metrics.usd, costOf(wasted, price), 'the cost of the failure');
      const again = await stage.until(stage.resume({ agent, pricing: listed }, 'one'));
      const both = costOf(wasted, price) + costOf(cached, price);
      expect(Math.abs((again.metrics.usd ?? 0) - both) < 1e-12, `both costs, found ${again.metrics.usd}`);
      await stage.play({ agent: scriptedModel([failedResponse(error)]), pricing: listed }, 'Go.', {
        sessionId: 'two',
      });
      // Enough for a short answer, but not beside what was wasted.
      const options = {
        agent: scriptedModel([textResponse('Never asked.')]),
        pricing: listed,
        limits: { usd: 0.005 },
      };
      const third = await stage.until(stage.resume(options, 'two'));
      expectEqual(third.limit, 'usd', 'the limit of a run that had spent it before');
    },
  ),
  the('what a failed request of unknown price wasted makes the cost unknown [B3]', async (stage) => {
    const error = new AgentError({ kind: 'network', message: 'cut', wasted });
    const { metrics } = await stage.play({ agent: scriptedModel([failedResponse(error)]) });
    expectEqual('usd' in metrics, false, 'whether a cost is given');
  }),
  the('one answer without a price makes the cost unknown, not smaller [B3]', async (stage) => {
    const pricing: Pricing = (_provider, model) => (model === 'dear' ? price : undefined);
    const { tool } = probeTools();
    const agent = scriptedModel([calls(['one'], { model: 'dear' }), textResponse('Done.')]);
    const { metrics } = await stage.play({ agent, pricing, tools: [tool('one')] });
    expectEqual('usd' in metrics, false, 'whether a cost is given');
  }),
  the(
    'an answer of a model without a price of its own costs what the model asked for costs',
    async (stage) => {
      const agent = scriptedModel([textResponse('Done.', { model: 'puppet-model-2026-11-01' })]);
      const { metrics } = await stage.play({ agent, pricing: listed });
      expect((metrics.usd ?? 0) > 0, 'a cost');
    },
  ),
  the('without an answer nothing was spent [P14]', async (stage) => {
    const { metrics } = await stage.play({ agent: scriptedModel([failedResponse(new Error('gone'))]) });
    expectEqual(metrics.usd, 0, 'the cost');
  }),
  the('times are told: of the whole run, of the model, of the tools', async (stage) => {
    const { tool } = probeTools();
    const later = <Value>(ms: number, value: Value) =>
      new Promise<Value>((resolve) => void stage.runtime.timer(ms, () => resolve(value)));
    const slow = tool('slow', { effect: 'read', execute: () => later(300, 'done') });
    const agent = scriptedModel([
      () => later(1000, calls(['slow', 'slow'])),
      () => later(500, textResponse('Done.')),
    ]);
    const run = stage.run({ agent, tools: [slow] });
    const { metrics } = await stage.until(run);
    expectEqual([metrics.modelMs, metrics.toolMs, metrics.waitedMs], [1500, 600, 0], 'the times');
    expect(
      metrics.durationMs >= 1800 && metrics.durationMs < 2400,
      `the whole time, found ${metrics.durationMs}`,
    );
    expectEqual(
      ofType(stage.storedOf(run), 'assistant').map(({ durationMs }) => durationMs),
      [1000, 500],
      'each request',
    );
  }),
];

import { EventEmitter } from 'node:events';
import { describe, expect, it } from 'vitest';
import type { RequestContext } from '../../src/interfaces/agent.ts';
import { Budget } from '../../src/interfaces/budget.ts';
import { Executor } from '../../src/loop/executor.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import { RunFixture } from '../../src/testing/run-fixture.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { calls, noResponse, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';

const { tool } = probeTools();

function listeners(signal: AbortSignal): number {
  return EventEmitter.getEventListeners(signal, 'abort').length;
}

function stage(): RunFixture {
  return new RunFixture(() => memoryStore());
}

describe('a run leaves behind', () => {
  it('no listener on the signal it was started with, however it ended [P18]', async () => {
    const { signal } = new AbortController();
    const steps: ModelStep[] = [calls(['a']), textResponse('Done.'), () => Promise.reject(new Error('no'))];
    const executor = new Executor({ agent: scriptedModel(steps), tools: [tool('a')] });
    for (const status of ['complete', 'failed', 'failed']) {
      expect((await executor.run('Go.', { signal })).status).toBe(status);
      expect(listeners(signal)).toBe(0);
    }
  });

  it('no listener on the signals passed to its agent and its tools [P18]', async () => {
    const seen: { signal: AbortSignal; within: number }[] = [];
    const note = ({ signal }: Pick<RequestContext, 'signal'>) => {
      if (signal !== undefined) seen.push({ signal, within: listeners(signal) });
    };
    const step =
      (response: ReturnType<typeof textResponse>): ModelStep =>
      (_request, context) => {
        note(context);
        return response;
      };
    const answers = [
      ...Array.from({ length: 6 }, (_, turn) => step(calls([{ name: 'a', arguments: { turn } }, 'b']))),
      step(textResponse('Done.')),
    ];
    const tools = [tool('a', { effect: 'read' }), tool('b', { effect: 'read' })];
    const result = await new Executor({ agent: scriptedModel(answers), tools }).run('Go.');
    expect([result.status, seen.length]).toEqual(['complete', 7]);
    // The last request has as many listeners while it runs as the first one.
    expect(new Set(seen.map(({ within }) => within)).size).toBe(1);
    expect(seen.map(({ signal }) => listeners(signal))).toEqual(Array(7).fill(0));
  });

  it('no timers for ended requests and tools when the run is cancelled [P18]', async () => {
    const play = stage();
    const turns = Array.from({ length: 6 }, (_, turn) => calls([{ name: 'a', arguments: { turn } }]));
    const run = play.run({ agent: scriptedModel([...turns, noResponse()]), tools: [tool('a')] });
    await play.advance(1000);
    const before = play.timers;
    run.cancel();
    // One timer for the end of the run and one for the request in progress.
    expect(play.timers - before).toBe(2);
    expect((await play.until(run.result)).status).toBe('cancelled');
  });

  it('no timer for the ended request when the run is cancelled during a tool call [P18]', async () => {
    const play = stage();
    const endless = tool('a', { execute: () => new Promise<never>(() => {}) });
    const run = play.run({ agent: scriptedModel([calls(['a'])]), tools: [endless] });
    await play.advance(1000);
    const before = play.timers;
    run.cancel();
    // The timer for the end of the run.
    expect(play.timers - before).toBe(1);
    expect((await play.until(run.result)).status).toBe('cancelled');
  });
});

describe('an agent that ignores its signal', () => {
  it('is abandoned, and the log records the failed request [P3, P12]', async () => {
    const play = stage();
    const run = play.run({ agent: scriptedModel([noResponse()]) });
    await play.advance(1000);
    run.cancel();
    const { status, metrics } = await play.until(run.result);
    expect([status, metrics.durationMs <= 1250]).toEqual(['cancelled', true]);
    expect(play.storedOf(run).map(({ type }) => type)).toEqual([
      'user',
      'stop_requested',
      'ask_failed',
      'finished',
    ]);
    await play.check();
  });
});

describe('the cost of failed attempts', () => {
  it('is charged to the budget with the final response, once [P14]', async () => {
    const budget = new Budget({ tokens: 1_000_000 });
    const wasted = { inputTokens: 3000, outputTokens: 70 };
    const usage = { inputTokens: 400, outputTokens: 5 };
    const agent = scriptedModel([textResponse('Done.', { usage, wasted, attempts: 3 })]);
    expect((await new Executor({ agent }).run('Go.', { budget })).status).toBe('complete');
    expect(budget.tokens).toBe(3475);
    expect(budget.tokensLeft).toBe(1_000_000 - 3475);
  });

  it('is charged once although every attempt was reported before the next one [P14]', async () => {
    const budget = new Budget({ tokens: 1_000_000 });
    const usage = { inputTokens: 400, outputTokens: 5 };
    const told = [1000, 2000].map((inputTokens) => ({ inputTokens, outputTokens: 10 }));
    const agent = scriptedModel([
      (_request, { mayRetry }) => {
        for (const wasted of told) expect(mayRetry?.(wasted)).toBe(true);
        return textResponse('Done.', { usage, wasted: { inputTokens: 2000, outputTokens: 10 }, attempts: 3 });
      },
    ]);
    expect((await new Executor({ agent }).run('Go.', { budget })).status).toBe('complete');
    expect(budget.tokens).toBe(2415);
  });
});

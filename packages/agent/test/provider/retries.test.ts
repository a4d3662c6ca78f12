import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/interfaces/agent.ts';
import type { Usage } from '../../src/values/usage.ts';
import { cutsAfter, refuses, streams } from '../support/fake-server.ts';
import { frame, textAnswer } from '../support/plain-wire.ts';
import { hello, hurry, rig, settle } from '../support/provider-rig.ts';

const good = streams(textAnswer('Hello'));
const busy = refuses(529, 'busy');
const started = frame('usage', { inputTokens: 100, outputTokens: 1 }) + frame('text', 0, 'x'.repeat(40));

describe('retries [P5]', () => {
  test('happen up to three times, each with an event, and the response counts all attempts', async () => {
    const { ask, runtime, events, server } = rig([busy, cutsAfter(started), busy, good]);
    const response = await hurry(runtime, ask());
    expect(response).toMatchObject({
      content: 'Hello',
      attempts: 4,
      usage: { inputTokens: 10, outputTokens: 3 },
      wasted: { inputTokens: 100, outputTokens: 10, estimated: true },
    });
    const retries = events.filter((event) => event.type === 'retry');
    expect(retries.map(({ attempt, error }) => [attempt, error.kind])).toEqual([
      [1, 'rate_limit'],
      [2, 'network'],
      [3, 'rate_limit'],
    ]);
    expect(new Set(server.exchanges.map(({ text }) => text)).size).toBe(1);
  });

  test('end with the fourth failure, which counts all attempts and their wasted usage', async () => {
    const cut = cutsAfter(started);
    const { fails, runtime, server } = rig([cut, cut, cut, cut, good]);
    expect(await hurry(runtime, fails())).toMatchObject({
      kind: 'network',
      attempts: 4,
      wasted: { inputTokens: 400, outputTokens: 40, estimated: true },
    });
    expect(server.exchanges).toHaveLength(4);
    expect(runtime.timers).toBe(0);
  });

  test('exceed three for an overload before the response starts, but not after its start [P5]', async () => {
    const overloaded = frame('fail', { kind: 'busy', message: 'Busy.' });
    const before = rig([...Array.from({ length: 8 }, () => streams(overloaded)), good]);
    expect(await hurry(before.runtime, before.ask())).toMatchObject({ content: 'Hello', attempts: 9 });
    const after = rig([...Array.from({ length: 8 }, () => streams(started + overloaded)), good]);
    expect(await hurry(after.runtime, after.fails())).toMatchObject({ kind: 'rate_limit', attempts: 4 });
  });

  test('call mayRetry with the usage so far, and stop if it returns false', async () => {
    const cut = cutsAfter(started);
    const { agent, runtime, server, events } = rig([cut, busy, cut, good]);
    const asked: unknown[] = [];
    const mayRetry = (wasted: Usage) => {
      asked.push(wasted.inputTokens);
      return asked.length < 3;
    };
    const emit = (event: AgentEvent) => events.push(event);
    const given = agent.run(hello, { mayRetry, emit }).catch((error: unknown) => error);
    expect(await hurry(runtime, given)).toMatchObject({
      kind: 'network',
      attempts: 3,
      wasted: { inputTokens: 200, outputTokens: 20, estimated: true },
    });
    expect(asked).toEqual([100, 100, 200]);
    expect(server.exchanges).toHaveLength(3);
    expect(events.filter(({ type }) => type === 'retry')).toHaveLength(2);
  });

  test('do not call mayRetry after a final failure', async () => {
    const { agent } = rig([refuses(400), good]);
    const mayRetry = vi.fn(() => true);
    await agent.run(hello, { mayRetry }).catch(() => undefined);
    expect(mayRetry).not.toHaveBeenCalled();
  });

  test('send nothing before the delay is over', async () => {
    const { ask, runtime, events, server } = rig([busy, good]);
    const answer = ask();
    await settle();
    const [retry] = events;
    if (retry?.type !== 'retry') throw new Error('There was no retry.');
    await runtime.advance(retry.delayMs - 1);
    expect(server.exchanges).toHaveLength(1);
    await runtime.advance(1);
    expect((await answer).content).toBe('Hello');
  });

  test.each([400, 401, 403, 404, 413, 422])('do not follow status %i [P6]', async (status) => {
    const { fails, server } = rig([refuses(status), good]);
    expect(await fails()).toMatchObject({ status, attempts: 1 });
    expect(server.exchanges).toHaveLength(1);
  });

  test('do not follow a missed deadline', async () => {
    const { fails, runtime, server } = rig([(exchange) => exchange.head(), good], {
      timeouts: { stallMs: 1000 },
    });
    expect(await hurry(runtime, fails())).toMatchObject({ kind: 'timeout', code: 'stall' });
    expect(server.exchanges).toHaveLength(1);
  });

  test('discard the deltas of a failed attempt: the response is that of one attempt [P8]', async () => {
    const { ask, runtime, events } = rig([cutsAfter(started), good]);
    expect((await hurry(runtime, ask())).content).toBe('Hello');
    expect(events.map(({ type }) => type)).toEqual(['text_delta', 'retry', 'text_delta', 'text']);
  });

  test('ignore an event callback that throws', async () => {
    const { agent, runtime } = rig([busy, good]);
    const run = agent.run(
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], tools: [] },
      {
        emit: () => {
          throw new Error('watcher');
        },
      },
    );
    expect((await hurry(runtime, run)).content).toBe('Hello');
  });
});

describe('delays that the service requests [P7]', () => {
  async function pauseAfter(headers: Record<string, string>, status = 429): Promise<number> {
    const { ask, runtime, events } = rig([refuses(status, '', headers), good]);
    await hurry(runtime, ask());
    const [retry] = events;
    return retry?.type === 'retry' ? retry.delayMs : Number.NaN;
  }

  test('are used', async () => {
    expect(await pauseAfter({ 'retry-after': '7' })).toBe(7000);
    expect(await pauseAfter({ 'retry-after-ms': '1234' }, 503)).toBe(1234);
    expect(await pauseAfter({ 'retry-after': 'Thu, 01 Jan 2026 00:00:09 GMT' })).toBe(9000);
  });

  test.each(['0', '-5', 'soon', 'Wed, 31 Dec 2025 23:59:00 GMT'])(
    '%s falls back to the default delay',
    async (hint) => {
      const pause = await pauseAfter({ 'retry-after': hint });
      expect(pause).toBeGreaterThanOrEqual(250);
      expect(pause).toBeLessThanOrEqual(500);
    },
  );

  test('from the wire override those in the headers', async () => {
    const fault = () => ({ message: 'slow', retryAfterMs: 3000 });
    const { ask, runtime, events } = rig([refuses(429, '', { 'retry-after': '9' }), good], {
      wire: { fault },
    });
    await hurry(runtime, ask());
    expect(events[0]).toMatchObject({ delayMs: 3000 });
  });

  test.each([
    ['over a minute', 429, '61', 61_000],
    ['of a day, with any status', 503, '86400', 86_400_000],
  ])('%s fail immediately as rate_limit', async (_name, status, hint, retryAfterMs) => {
    const { fails, events, server } = rig([refuses(status, '', { 'retry-after': hint }), good]);
    expect(await fails()).toMatchObject({ kind: 'rate_limit', retryAfterMs, retryable: true, attempts: 1 });
    expect(events).toEqual([]);
    expect(server.exchanges).toHaveLength(1);
  });

  test('longer than the remaining time fail immediately', async () => {
    const { fails } = rig([refuses(429, '', { 'retry-after': '30' })], { timeouts: { totalMs: 20_000 } });
    expect(await fails()).toMatchObject({ kind: 'rate_limit', retryAfterMs: 30_000 });
  });

  test('inside a stream are used too', async () => {
    const { ask, runtime, events } = rig([
      streams(frame('fail', { kind: 'busy', message: 'slow', retryAfterMs: 4000 })),
      good,
    ]);
    await hurry(runtime, ask());
    expect(events[0]).toMatchObject({ type: 'retry', delayMs: 4000 });
  });
});

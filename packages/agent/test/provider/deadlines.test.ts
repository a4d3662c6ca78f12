import { describe, expect, test, vi } from 'vitest';
import type { AgentEvent } from '../../src/interfaces/agent.ts';
import { AgentError } from '../../src/values/errors.ts';
import { refuses, streams } from '../support/fake-server.ts';
import { frame, textAnswer } from '../support/plain-wire.ts';
import { hello, hurry, rig, settle } from '../support/provider-rig.ts';

const good = streams(textAnswer('Hello'));
const noRetry = { retry: { retries: 0 } };
const started = frame('usage', { inputTokens: 100, outputTokens: 1 }) + frame('text', 0, 'x'.repeat(40));

describe('deadlines [P2]', () => {
  test('end a request without a response head after headersMs', async () => {
    const { fails, runtime, server } = rig([], noRetry);
    const error = fails();
    await settle();
    await runtime.advance(59_999);
    expect(server.at(0).isDestroyed).toBe(false);
    await runtime.advance(1);
    expect(server.at(0).isDestroyed).toBe(true);
    expect(await error).toMatchObject({
      kind: 'timeout',
      code: 'head',
      message: expect.stringContaining('60 s'),
    });
    expect(runtime.timers).toBe(0);
  });

  test('end a response without data for stallMs since its last byte', async () => {
    const { fails, runtime, server } = rig([(exchange) => exchange.head().write(started)]);
    const error = fails();
    await settle();
    await runtime.advance(119_000);
    server.at(0).write(':\n\n');
    await runtime.advance(119_999);
    expect(server.at(0).isDestroyed).toBe(false);
    await runtime.advance(1);
    expect(server.at(0).isDestroyed).toBe(true);
    expect(await error).toMatchObject({ kind: 'timeout', code: 'stall', attempts: 1 });
  });

  async function pinged(
    setup: (fake: ReturnType<typeof rig>) => void,
    request = {},
  ): Promise<[string | undefined, number]> {
    const fake = rig([(exchange) => exchange.head().write(started)], noRetry);
    const error = fake.fails(request);
    await settle();
    setup(fake);
    let waited = 0;
    for (; waited < 700_000 && !fake.server.at(0).isDestroyed; waited += 10_000) {
      fake.server.at(0).write(': ping\n\n');
      await fake.runtime.advance(10_000);
    }
    return [(await error).code, waited];
  }

  test('end a response with pings but no progress after progressMs', async () => {
    expect(await pinged(() => {})).toEqual(['progress', 300_000]);
  });

  test('limit only the whole call while the model reasons', async () => {
    expect(await pinged(({ server }) => server.at(0).write(frame('reasoning', 1, '')))).toEqual([
      'total',
      600_000,
    ]);
    expect(await pinged(() => {}, { config: { effort: 'high' } })).toEqual(['total', 600_000]);
  });

  test('count deltas as progress without a timer for each', async () => {
    const { ask, runtime, server } = rig([(exchange) => exchange.head().write(started)]);
    const set = vi.spyOn(runtime, 'timer');
    const answer = ask();
    await settle();
    for (let delta = 0; delta < 1000; delta += 1) server.at(0).write(frame('text', 0, 'x'));
    expect(set.mock.calls.length).toBeLessThanOrEqual(2);
    server.at(0).write(frame('end', 'complete')).end();
    expect((await answer).content).toHaveLength(1040);
  });

  test('end the whole call after totalMs, including retries', async () => {
    const { fails, runtime, server } = rig([refuses(500), refuses(500)], { timeouts: { totalMs: 20_000 } });
    const error = hurry(runtime, fails());
    expect(await error).toMatchObject({ kind: 'timeout', code: 'total', attempts: 3 });
    expect(runtime.monotonic()).toBeLessThanOrEqual(20_300);
    expect(server.at(2).isDestroyed).toBe(true);
  });
});

describe('abort [P3]', () => {
  test('before the request sends nothing', async () => {
    const { fails, server } = rig([good]);
    const error = await fails({}, AbortSignal.abort());
    expect(error).toMatchObject({ kind: 'aborted', retryable: false });
    expect(error.attempts).toBeUndefined();
    expect(server.exchanges).toHaveLength(0);
  });

  test('is immediate with any transport, destroys the connection and counts usage so far', async () => {
    const controller = new AbortController();
    const { fails, server, runtime, events } = rig([(exchange) => exchange.head().write(started)]);
    const error = fails({}, controller.signal);
    await settle();
    controller.abort();
    server.at(0).write(frame('text', 0, 'late'));
    expect(await error).toMatchObject({
      kind: 'aborted',
      attempts: 1,
      wasted: { inputTokens: 100, outputTokens: 10, estimated: true },
    });
    expect([server.at(0).request.signal.aborted, server.at(0).isClosed]).toEqual([true, true]);
    expect(events).toHaveLength(1);
    expect(runtime.timers).toBe(0);
  });

  test('ends a call that waits for the response head', async () => {
    const controller = new AbortController();
    const { fails, server } = rig([]);
    const error = fails({}, controller.signal);
    await settle();
    controller.abort();
    expect(await error).toMatchObject({ kind: 'aborted', attempts: 1 });
    expect(server.at(0).request.signal.aborted).toBe(true);
    // A transport that ignores the abort.
    server.at(0).head().write(textAnswer('late')).end();
    await settle();
    expect(server.at(0).isClosed).toBe(true);
  });

  test('ends a call while its endpoint is looked up', async () => {
    const controller = new AbortController();
    const { fails, server } = rig([good], { wire: { endpoint: () => new Promise(() => {}) } });
    const error = fails({}, controller.signal);
    await settle();
    controller.abort();
    expect(await error).toMatchObject({ kind: 'aborted', attempts: undefined });
    expect(server.exchanges).toHaveLength(0);
  });

  test('ends a call during backoff [S0.20]', async () => {
    const controller = new AbortController();
    const { fails, server, runtime } = rig([refuses(500)]);
    const error = fails({}, controller.signal);
    await settle();
    expect(runtime.timers).toBe(1);
    controller.abort();
    expect(await error).toMatchObject({ kind: 'aborted', attempts: 1 });
    expect(runtime.timers).toBe(0);
    expect(server.exchanges).toHaveLength(1);
  });

  test('in an event callback suppresses all later events, even of blocks that end together', async () => {
    const controller = new AbortController();
    const { agent } = rig([
      streams(frame('text', 0, 'a') + frame('text', 1, 'b') + frame('end', 'complete')),
    ]);
    const seen: AgentEvent[] = [];
    const emit = (event: AgentEvent) => {
      seen.push(event);
      if (event.type === 'text') controller.abort();
    };
    const run = agent.run(hello, { signal: controller.signal, emit });
    await expect(run).rejects.toMatchObject({ kind: 'aborted' });
    expect(seen.filter(({ type }) => type === 'text')).toEqual([{ type: 'text', index: 0, text: 'a' }]);
  });

  test('in an event callback ends the call', async () => {
    const controller = new AbortController();
    const { agent, server } = rig([(exchange) => exchange.head().write(started + started)]);
    const seen: string[] = [];
    const emit = ({ type }: AgentEvent) => {
      seen.push(type);
      controller.abort();
    };
    const run = agent.run(
      { messages: [{ role: 'user', content: [{ type: 'text', text: 'x' }] }], tools: [] },
      { signal: controller.signal, emit },
    );
    await expect(run).rejects.toMatchObject({ kind: 'aborted' });
    expect(seen).toEqual(['text_delta']);
    expect(server.at(0).isDestroyed).toBe(true);
  });

  test('keeps an AgentError as its reason, and reports a TimeoutError as a timeout [S0.15]', async () => {
    const reason = new AgentError({ kind: 'timeout', code: 'run', message: 'The run is over.' });
    expect(await rig([]).fails({}, AbortSignal.abort(reason))).toBe(reason);
    const late = AbortSignal.abort(new DOMException('late', 'TimeoutError'));
    expect(await rig([]).fails({}, late)).toMatchObject({ kind: 'timeout' });
    const controller = new AbortController();
    const { fails } = rig([(exchange) => exchange.head().write(started)]);
    const error = fails({}, controller.signal);
    await settle();
    controller.abort(reason);
    expect(await error).toMatchObject({
      kind: 'timeout',
      code: 'run',
      message: 'The run is over.',
      attempts: 1,
      wasted: { inputTokens: 100 },
    });
  });

  test('leaves no listener on a signal that is reused for several calls', async () => {
    const controller = new AbortController();
    const add = vi.spyOn(controller.signal, 'addEventListener');
    const remove = vi.spyOn(controller.signal, 'removeEventListener');
    const { ask, runtime } = rig([refuses(500), good, good]);
    await hurry(runtime, ask({}, controller.signal));
    await ask({}, controller.signal);
    expect(remove.mock.calls.length).toBe(add.mock.calls.length);
  });
});

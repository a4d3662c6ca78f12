import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { cutsAfter, streams } from '../support/fake-server.ts';
import { frame, textAnswer } from '../support/plain-wire.ts';
import { rig, settle } from '../support/provider-rig.ts';

const noRetry = { retry: { retries: 0 } };
const started = frame('usage', { inputTokens: 100, outputTokens: 1 }) + frame('text', 0, 'x'.repeat(40));

describe('a complete response', () => {
  test('has text, usage, stop reason, model and request id [S0.6, S0.8]', async () => {
    const { ask } = rig(
      [
        (exchange) =>
          exchange
            .head(200, {
              'content-type': 'text/event-stream; charset=utf-8',
              'request-id': 'r1',
              'x-limit-a': '5',
              'x-other': '1',
            })
            .write(frame('model', 'plain-1-2026') + textAnswer('Hello'))
            .end(),
      ],
      { wire: { rateLimitHeaders: ['x-limit-*'] } },
    );
    expect(await ask()).toEqual({
      content: 'Hello',
      toolCalls: [],
      usage: { inputTokens: 10, outputTokens: 3 },
      stopReason: 'complete',
      message: { role: 'assistant', content: [{ type: 'text', text: 'Hello' }] },
      model: 'plain-1-2026',
      attempts: 1,
      wasted: { inputTokens: 0, outputTokens: 0 },
      requestId: 'r1',
      rateLimits: { 'x-limit-a': '5' },
    });
  });

  test('leaves no timer and no abort listener, and does not destroy its connection', async () => {
    const { ask, runtime, server } = rig([(exchange) => exchange.head()]);
    const { signal } = new AbortController();
    const answer = ask({}, signal);
    await settle();
    expect([runtime.timers, getEventListeners(signal, 'abort').length]).toEqual([1, 1]);
    server.at(0).write(textAnswer('Hello')).end();
    expect((await answer).content).toBe('Hello');
    await settle();
    expect([runtime.timers, getEventListeners(signal, 'abort').length]).toEqual([0, 0]);
    expect(server.at(0).isDestroyed).toBe(false);
  });

  test('sets no second timer if its body ends right after its last bytes, as Node reports it', async () => {
    const { ask, runtime, server } = rig([(exchange) => exchange.head()]);
    const set = vi.spyOn(runtime, 'timer');
    const answer = ask();
    await settle();
    server.at(0).write(textAnswer('Hello')).end();
    expect((await answer).content).toBe('Hello');
    expect(set).toHaveBeenCalledTimes(1);
  });

  test('includes usage that arrives after its end', async () => {
    const { ask } = rig([
      streams(frame('text', 0, 'a') + frame('end', 'complete') + frame('usage', { outputTokens: 9 })),
    ]);
    expect((await ask()).usage.outputTokens).toBe(9);
  });

  test('stays valid after a cut, garbage or silence after its end', async () => {
    const whole = textAnswer('Hello');
    const { ask } = rig([cutsAfter(whole), streams(`${whole}data: {"\n\n`)]);
    expect((await ask()).content).toBe('Hello');
    expect((await ask()).content).toBe('Hello');
    const silent = rig([(exchange) => exchange.head().write(whole)]);
    const answer = silent.ask();
    await settle();
    await silent.runtime.advance(999);
    expect(silent.server.at(0).isDestroyed).toBe(false);
    await silent.runtime.advance(1);
    expect((await answer).content).toBe('Hello');
    expect(silent.server.at(0).isDestroyed).toBe(true);
  });

  test('is not kept open by pings after its end', async () => {
    const { ask, runtime, server } = rig([(exchange) => exchange.head().write(textAnswer('Hello'))]);
    const answer = ask();
    await settle();
    await runtime.advance(600);
    server.at(0).write(': ping\n\n');
    await runtime.advance(600);
    expect((await answer).content).toBe('Hello');
  });

  test('settles one second after its end, even if more usage arrives', async () => {
    const { ask, runtime, server } = rig([(exchange) => exchange.head().write(textAnswer('Hello'))]);
    const answer = ask();
    await settle();
    for (let second = 0; second < 10; second += 1) {
      server.at(0).write(frame('usage', { outputTokens: second }));
      await runtime.advance(500);
    }
    expect((await answer).usage.outputTokens).toBe(1);
  });

  test('is emitted as it arrives', async () => {
    const { ask, server, events } = rig([(exchange) => exchange.head()]);
    const answer = ask();
    await settle();
    server.at(0).write(frame('text', 0, 'Hel'));
    expect(events).toEqual([{ type: 'text_delta', index: 0, text: 'Hel' }]);
    server
      .at(0)
      .write(frame('text', 0, 'lo') + frame('end', 'complete'))
      .end();
    expect((await answer).content).toBe('Hello');
  });
});

describe('only the end of a response is success [P1]', () => {
  test.each([
    ['before anything', ''],
    ['in a text', started],
    ['in a frame', `${started}data: ["te`],
    ['after a stop reason', `${started}${frame('stop', 'complete')}`],
  ])('a body that ends or breaks %s is a retryable network error', async (_name, text) => {
    for (const answer of [streams(text), cutsAfter(text)]) {
      const error = await rig([answer], noRetry).fails();
      expect(error).toMatchObject({ kind: 'network', retryable: true, attempts: 1, provider: 'plain' });
    }
  });

  test.each([
    ['invalid JSON', 'data: {"a"\n\n'],
    ['a payload on which the wire throws', frame('nothing')],
    ['a fault of kind broken', frame('fail', { kind: 'broken', message: 'odd' })],
  ])('%s is a retryable network error', async (_name, text) => {
    const { fails, server } = rig([(exchange) => exchange.head().write(text)], noRetry);
    expect(await fails()).toMatchObject({ kind: 'network', retryable: true });
    expect(server.at(0).isDestroyed).toBe(true);
  });

  test('payloads of unknown kinds without data are ignored', async () => {
    const noise = 'data: {"future":1,"type":"beat","event_id":"e1","list":[]}\n\ndata: null\n\ndata: 7\n\n';
    expect((await rig([streams(noise + textAnswer('Hello') + noise)]).ask()).content).toBe('Hello');
  });

  test.each(['{"future":"text"}', '{"type":"beat","data":{"deep":1}}', '{"list":["x"]}', 'words'])(
    'data in an unknown payload invalidates the response, and the error names it: %s [P27]',
    async (payload) => {
      const error = await rig([streams(`data: ${payload}\n\n${textAnswer('Hello')}`)], noRetry).fails();
      const message = expect.stringContaining(payload.slice(1, 9));
      expect(error).toMatchObject({ kind: 'network', code: 'garbled', message, retryable: true });
    },
  );

  test.each([
    ['content after its end', `${textAnswer('Hello')}${frame('text', 0, 'more')}`],
    ['only empty blocks', `${frame('begin', 0, 'text')}${frame('close', 0)}${frame('end', 'complete')}`],
  ])('a response with %s is a retryable network error [P27]', async (_what, text) => {
    const error = await rig([streams(text)], noRetry).fails();
    expect(error).toMatchObject({ kind: 'network', code: 'garbled', retryable: true });
  });

  test('a framing of the wire is used, and its error is a network error', async () => {
    const contentTypes = ['application/x-own'];
    const open = () => ({
      push: (bytes: Uint8Array) => {
        if (bytes[0] === 63) throw new Error('odd byte');
        return [['text', 0, new TextDecoder().decode(bytes)]];
      },
      end: () => [['end', 'complete']],
    });
    const own = (text: string) =>
      rig([(exchange) => exchange.head(200, { 'content-type': 'application/x-own' }).write(text).end()], {
        ...noRetry,
        wire: { framing: { contentTypes, open } },
      });
    expect((await own('Hi').ask()).content).toBe('Hi');
    expect(await own('?').fails()).toMatchObject({
      kind: 'network',
      message: expect.stringContaining('odd byte'),
    });
  });
});

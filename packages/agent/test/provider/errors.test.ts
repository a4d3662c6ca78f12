import { describe, expect, test } from 'vitest';
import { AgentError } from '../../src/values/errors.ts';
import { refuses, streams } from '../support/fake-server.ts';
import { frame, secret, textAnswer } from '../support/plain-wire.ts';
import { hurry, rig, settle } from '../support/provider-rig.ts';

const good = streams(textAnswer('Hello'));
const noRetry = { retry: { retries: 0 } };
const started = frame('usage', { inputTokens: 100, outputTokens: 1 }) + frame('text', 0, 'x'.repeat(40));

describe('errors by status', () => {
  test.each([
    [400, 'invalid', false],
    [401, 'auth', false],
    [403, 'auth', false],
    [404, 'invalid', false],
    [408, 'timeout', true],
    [409, 'agent', true],
    [413, 'invalid', false],
    [418, 'invalid', false],
    [422, 'invalid', false],
    [429, 'rate_limit', true],
    [500, 'agent', true],
    [503, 'agent', true],
    [529, 'rate_limit', true],
  ])('%i is %s', async (status, kind, retryable) => {
    const { fails } = rig([refuses(status, 'words', { 'request-id': 'r7' })], noRetry);
    expect(await fails()).toMatchObject({
      kind,
      retryable,
      status,
      attempts: 1,
      provider: 'plain',
      requestId: 'r7',
      message: `status ${status}: words`,
    });
  });

  test.each([
    ['busy', 'rate_limit', true, 'rate_limited'],
    ['broken', 'network', true, 'garbled'],
    ['too_long', 'invalid', false, 'context_full'],
    ['not_found', 'invalid', false, 'not_served'],
    ['agent', 'agent', true, 'service_failed'],
    ['auth', 'auth', false, 'key_refused'],
    ['invalid', 'invalid', false, 'request_refused'],
  ] as const)('a fault of kind %s in a stream is %s', async (given, kind, retryable, code) => {
    const { fails } = rig(
      [streams(started + frame('fail', { kind: given, message: 'words', retryAfterMs: 1500 }))],
      noRetry,
    );
    expect(await fails()).toMatchObject({ kind, retryable, code, message: 'words', retryAfterMs: 1500 });
  });

  test('the kind of the wire overrides the status, but a final status stays final [P6]', async () => {
    const fault = () => ({ message: 'full', kind: 'busy', code: 'full' }) as const;
    expect(await rig([refuses(500)], { ...noRetry, wire: { fault } }).fails()).toMatchObject({
      kind: 'rate_limit',
      retryable: true,
      code: 'full',
    });
    expect(await rig([refuses(400)], { ...noRetry, wire: { fault } }).fails()).toMatchObject({
      kind: 'rate_limit',
      retryable: false,
    });
  });

  test('a wire that throws on the body does not hide the status', async () => {
    const fault = () => {
      throw new Error('odd');
    };
    expect(await rig([refuses(500, '<html>')], { ...noRetry, wire: { fault } }).fails()).toMatchObject({
      kind: 'agent',
      status: 500,
      message: 'The service failed with status 500 and gave no reason.',
    });
  });

  test('a redirect is not followed, and the error names its target [P6]', async () => {
    const error = await rig([refuses(307, '', { location: 'https://evil.test/x?key=1' })]).fails();
    expect(error).toMatchObject({ kind: 'invalid', status: 307, retryable: false, attempts: 1 });
    expect(error.message).toContain('plain.test redirects to https://evil.test. ');
  });

  test('a response with another content type is an error that shows it and is not retried', async () => {
    const { fails, server } = rig([
      (exchange) => exchange.head(200, { 'content-type': 'text/html' }).write('<h1>Sign in</h1>').end(),
    ]);
    const error = await fails();
    expect(error).toMatchObject({ kind: 'agent', code: 'content_type', retryable: false });
    expect(error.message).toMatch(/plain\.test sent text\/html instead of text\/event-stream.*<h1>Sign in/);
    expect(server.exchanges).toHaveLength(1);
  });

  test('a response without a content type is accepted', async () => {
    expect(
      (await rig([(exchange) => exchange.head(200, {}).write(textAnswer('Hi')).end()]).ask()).content,
    ).toBe('Hi');
  });

  test('at most 16 KiB of an error body are read, then the connection is closed [P29]', async () => {
    const lengths: number[] = [];
    const fault = (_status: number, body: string) => {
      lengths.push(body.length);
      return { message: body };
    };
    const { fails, server } = rig(
      [(exchange) => exchange.head(500, {}).write('x'.repeat(10_000)).write('y'.repeat(60_000))],
      { ...noRetry, wire: { fault } },
    );
    const error = await fails();
    expect(lengths).toEqual([16_384]);
    expect(error.message).toHaveLength(2001);
    expect(server.at(0).isDestroyed).toBe(true);
  });

  test('an error whose body hangs or breaks contains the text received so far', async () => {
    const broken = rig([(exchange) => exchange.head(503, {}).write('half').cut()], noRetry);
    expect(await broken.fails()).toMatchObject({ kind: 'agent', message: 'status 503: half' });
    const { fails, runtime } = rig([(exchange) => exchange.head(503, {}).write('half')], noRetry);
    const error = fails();
    await settle();
    await runtime.advance(5000);
    expect(await error).toMatchObject({ kind: 'agent', message: 'status 503: half' });
  });
});

describe('the connection', () => {
  test.each([
    ['ECONNREFUSED', true, /Connecting to plain\.test failed: the connection was refused/],
    ['ENOTFOUND', true, /cannot be resolved/],
    ['DEPTH_ZERO_SELF_SIGNED_CERT', false, /plain\.test/],
  ])('%s is a network error', async (code, retryable, message) => {
    const { fails } = rig([(exchange) => exchange.cut(Object.assign(new Error('boom'), { code }))], noRetry);
    const error = await fails();
    expect(error).toMatchObject({ kind: 'network', retryable, cause: { code } });
    expect(error.message).toMatch(message);
  });

  test('the cause inside an error of fetch is reported', async () => {
    const inner = Object.assign(new Error('x'), { code: 'ECONNREFUSED' });
    const outer = new TypeError('fetch failed', { cause: new AggregateError([inner]) });
    expect((await rig([(exchange) => exchange.cut(outer)], noRetry).fails()).message).toMatch(
      /the connection was refused/,
    );
  });

  test('a transport that throws synchronously does not crash, and its AgentError is kept', async () => {
    const transport = () => {
      throw new AgentError({ kind: 'invalid', message: 'no way' });
    };
    expect(await rig([], { transport }).fails()).toMatchObject({
      kind: 'invalid',
      message: 'no way',
      attempts: 1,
    });
  });
});

describe('secrets [P19]', () => {
  const spellings: [string, string][] = [
    ['unchanged', secret],
    ['as JSON', JSON.stringify(secret)],
    ['in a URL', encodeURIComponent(secret)],
    ['in base64', Buffer.from(secret).toString('base64')],
    ['in URL-safe base64', Buffer.from(secret).toString('base64url')],
  ];

  test.each(spellings)('echoed %s never appear in an error', async (_name, echo) => {
    const errors = [
      await rig([refuses(401, `bad key ${echo}!`, { 'request-id': `r ${echo}` })], noRetry).fails(),
      await rig([streams(frame('fail', { kind: 'auth', message: `bad key ${echo}` }))], noRetry).fails(),
      await rig([(exchange) => exchange.cut(new Error(`proxy says ${echo}`))], noRetry).fails(),
      await rig(
        [(exchange) => exchange.head(200, { 'content-type': 'text/html' }).write(`<p>${echo}`).end()],
        noRetry,
      ).fails(),
      await rig([], {
        ...noRetry,
        transport: () =>
          Promise.reject(
            new AgentError({
              kind: 'network',
              message: echo,
              cause: { name: echo, message: echo, code: echo },
            }),
          ),
      }).fails(),
    ];
    for (const error of errors) {
      const shown = [
        JSON.stringify(error),
        String(error.stack),
        error.cause?.message ?? '',
        error.cause?.name ?? '',
        error.cause?.code ?? '',
      ].join('\n');
      expect(shown).not.toContain(echo);
      expect(shown).toContain('[redacted]');
    }
  });

  test('inside another secret do not expose the rest', async () => {
    const endpoint = { url: 'https://plain.test', headers: {}, secrets: ['abcd', 'abcdefgh', 'x'] };
    const error = await rig([refuses(401, 'abcdefgh, abcd and x')], {
      ...noRetry,
      wire: { endpoint },
    }).fails();
    expect(error.message).toBe('status 401: [redacted], [redacted] and x');
  });

  test('are redacted in retry events', async () => {
    const { ask, runtime, events } = rig([refuses(500, secret), good]);
    await hurry(runtime, ask());
    expect(JSON.stringify(events)).not.toContain(secret);
    expect(events[0]).toMatchObject({ type: 'retry', error: { message: 'status 500: [redacted]' } });
  });

  test('are redacted if the read limit cuts them', async () => {
    const fault = (_status: number, body: string) => ({ message: body.slice(-100) });
    for (let cut = 4; cut < secret.length; cut += 1) {
      const body = 'x'.repeat(16_384 - cut) + secret + 'y'.repeat(100);
      const error = await rig([refuses(500, body)], { ...noRetry, wire: { fault } }).fails();
      expect(error.message).not.toContain(secret.slice(0, cut));
      expect(error.message).toMatch(/x\[redacted\]$/);
    }
  });

  test('include keys in well-known headers that the wire does not declare', async () => {
    const endpoint = { url: 'https://plain.test', headers: { Authorization: 'Bearer abcdefgh' } };
    const error = await rig([refuses(401, 'no abcdefgh here')], { ...noRetry, wire: { endpoint } }).fails();
    expect(error.message).toBe('status 401: no [redacted] here');
  });
});

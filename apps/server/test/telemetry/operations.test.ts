import { connect } from 'node:net';
import { memoryStore, noUsage } from '@cobbler/agent';
import type { Span, Tracer } from '@opentelemetry/api';
import { trace } from '@opentelemetry/api';
import { describe, expect, onTestFinished, test } from 'vitest';
import { Meters } from '../../src/telemetry/meters.ts';
import { RunSpans } from '../../src/telemetry/run-spans.ts';
import { ownPort } from '../support/own-port.ts';
import { moment, rig } from '../support/rig.ts';

const prompt = '/v1/sessions/s/prompt';

describe('operators of a server', () => {
  test('see metrics in the Prometheus text format', async () => {
    const { ask, watch, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await watch('/v1/sessions/s/events');
    await ask('POST', prompt, { content: 'use look' });
    await idle('s');
    const { text, headers } = await ask('GET', '/metrics');
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(text).toContain('cobbler_runs_total{status="complete"} 1\n');
    expect(text).toContain('cobbler_tokens_total{side="input"} 240\n');
    expect(text).toContain('cobbler_tool_results_total{tool="look",outcome="ok"} 1\n');
    expect(text).toContain('cobbler_sse_clients 1\n');
    expect(text).toContain(
      'cobbler_http_requests_total{method="POST",route="/v1/sessions/{sessionId}/prompt",status="202"} 1\n',
    );
    for (const line of text.trimEnd().split('\n')) {
      expect(line).toMatch(/^# (HELP|TYPE) \w+ .+$|^\w+(\{(\w+="[^"]*",?)+\})? [0-9.e+-]+$/);
    }
  });

  test('see no cost, rather than 0, while every price is unknown', () => {
    const meters = new Meters();
    const spent = (usd?: number) =>
      meters.handle({ seq: 1, type: 'assistant', usage: { inputTokens: 1, outputTokens: 1 }, usd } as never);
    spent();
    expect(meters.text()).toContain('cobbler_tokens_total{side="input"} 1\n');
    expect(meters.text()).not.toContain('cobbler_usd_total');
    spent(0.5);
    expect(meters.text()).toContain('cobbler_usd_total 0.5\n');
    const paid = { usage: { inputTokens: 2, outputTokens: 1 }, wasted: noUsage, usd: 0.25 };
    meters.handle({ seq: 2, type: 'compacted', spent: paid } as never);
    meters.handle({ seq: 3, type: 'spent', who: 'agent', spent: paid } as never);
    const error = { wasted: { inputTokens: 9, outputTokens: 9 } };
    meters.handle({ seq: 4, type: 'ask_failed', error, usd: 1 } as never);
    expect(meters.text()).toContain('cobbler_usd_total 2\n');
    expect(meters.text()).toContain('cobbler_tokens_total{side="input"} 6\n');
  });

  test('see at most 500 series per metric, with the rest counted together [P18]', () => {
    const meters = new Meters();
    for (let call = 0; call < 2_000; call += 1) meters.count('calls', 'Calls.', { tool: `tool_${call}` });
    meters.count('calls', 'Calls.', { tool: 'tool_3' });
    const lines = meters.text().split('\n');
    expect(lines.length).toBeLessThan(510);
    expect(lines).toContain('calls{tool="tool_3"} 2');
    expect(lines).toContain('calls 1500');
  });

  test('see request durations as cumulative histogram buckets', () => {
    const meters = new Meters();
    for (const seconds of [0.001, 0.02, 0.02, 60]) meters.observe('took', 'Time.', { route: '/a' }, seconds);
    const lines = meters.text().split('\n');
    expect(lines).toContain('# TYPE took histogram');
    expect(lines).toContain('took_bucket{route="/a",le="0.005"} 1');
    expect(lines).toContain('took_bucket{route="/a",le="0.025"} 3');
    expect(lines).toContain('took_bucket{route="/a",le="10"} 3');
    expect(lines).toContain('took_bucket{route="/a",le="+Inf"} 4');
    expect(lines).toContain('took_count{route="/a"} 4');
  });

  test('get a log with one JSON object per line and no secrets', async () => {
    const { ask, token, log, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' }, { 'x-request-id': 'find-me' });
    await ask('POST', prompt, { content: `say ${token}` });
    await idle('s');
    const lines = log.map((line) => JSON.parse(line));
    expect(lines.find(({ requestId }) => requestId === 'find-me')).toMatchObject({
      level: 'debug',
      message: 'request',
      method: 'POST',
      status: 201,
    });
    expect(lines.find(({ message }) => message === 'run ended')).toMatchObject({ status: 'complete' });
    expect(log.join('\n')).not.toContain(token);
  });

  test('get an OpenAPI 3.1 description of at most 34 paths, also as a readable page', async () => {
    const { ask } = await rig();
    const { json, text } = await ask('GET', '/openapi.json');
    expect(json['openapi']).toBe('3.1.0');
    const paths = json['paths'] as Record<string, Record<string, { operationId: string }>>;
    expect(Object.keys(paths).length).toBeLessThanOrEqual(34);
    const names = Object.values(paths).flatMap((path) => Object.values(path).map((one) => one.operationId));
    expect(new Set(names).size).toBe(names.length);
    const { schemas } = json['components'] as { schemas: Record<string, unknown> };
    for (const [, name = ''] of text.matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)) {
      expect(schemas).toHaveProperty([name]);
    }
    expect(text).not.toContain('#/$defs/');
    const page = await ask('GET', '/docs');
    expect(page.headers.get('content-type')).toMatch('text/html');
    expect(page.headers.get('content-security-policy')).toContain("default-src 'none'");
    for (const path of Object.keys(paths)) expect(page.text).toContain(path.replaceAll('&', '&amp;'));
  });

  test('see spans named by the OpenTelemetry conventions for generative AI', async () => {
    const spans: { name: string; attributes: Record<string, unknown>; ended: boolean }[] = [];
    const tracer = {
      startSpan(name: string, options: { attributes?: Record<string, unknown> }) {
        const span = { name, attributes: { ...options.attributes }, ended: false };
        spans.push(span);
        const self = {
          setAttribute: (key: string, value: unknown) => Object.assign(span.attributes, { [key]: value }),
          setAttributes: (more: object) => Object.assign(span.attributes, more),
          setStatus: () => self,
          end: () => {
            span.ended = true;
          },
          spanContext: () => ({ traceId: '0'.repeat(31) + 1, spanId: '0'.repeat(15) + 1, traceFlags: 1 }),
        };
        return self as unknown as Span;
      },
    } as unknown as Tracer;
    trace.setGlobalTracerProvider({ getTracer: () => tracer });
    onTestFinished(() => trace.disable());
    expect(new RunSpans('other')).toBeDefined();
    const { ask, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', prompt, { content: 'use look' });
    await idle('s');
    expect(spans.map(({ name, ended }) => [name, ended])).toEqual([
      ['invoke_agent cobbler', true],
      ['chat scripted-model', true],
      ['execute_tool look', true],
      ['chat scripted-model', true],
    ]);
    expect(spans[0]?.attributes).toMatchObject({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.conversation.id': 's',
      'gen_ai.usage.input_tokens': 240,
    });
    expect(spans[2]?.attributes).toMatchObject({ 'gen_ai.tool.name': 'look' });
  });
});

describe('closing a server', () => {
  test('lets active runs end, rejects new ones and reports that it is not ready', async () => {
    const { ask, server, store } = await rig({ limits: { drainMs: 5000 } });
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', prompt, { content: 'listen' });
    const closed = server.close();
    expect(await ask('GET', '/readyz')).toMatchObject({ status: 503, json: { code: 'not_ready' } });
    expect(await ask('POST', prompt, { content: 'say More.' })).toMatchObject({
      status: 503,
      json: { code: 'stopping' },
    });
    await closed;
    expect((await store.read('s')).at(-1)).toMatchObject({ type: 'finished', status: 'limit' });
  });

  test('cancels runs that do not end in time, ends streams and closes the port', async () => {
    const { ask, server, store, watch } = await rig({ port: await ownPort(), limits: { drainMs: 30 } });
    await ask('POST', '/v1/sessions', { id: 's' });
    const events = await watch('/v1/sessions/s/events');
    await ask('POST', prompt, { content: 'hang' });
    await server.close();
    await events.over;
    expect(events.frames.at(-1)?.json).toMatchObject({ type: 'finished', status: 'cancelled' });
    expect((await store.read('s')).at(-1)).toMatchObject({ status: 'cancelled' });
    await expect(ask('GET', '/livez')).rejects.toThrow();
  });

  test('can be requested twice', async () => {
    const { server } = await rig();
    await Promise.all([server.close(), server.close()]);
  });
});

describe('limits [P16]', () => {
  test('reject one client too many with 503 and the time to retry', async () => {
    const { ask, watch } = await rig({ limits: { clients: 2 } });
    await ask('POST', '/v1/sessions', { id: 's' });
    await Promise.all([watch('/v1/sessions/s/events'), watch('/v1/sessions/s/events')]);
    const third = await ask('GET', '/v1/sessions/s/events');
    expect(third).toMatchObject({ status: 503, json: { code: 'too_many_clients' } });
    expect(third.headers.get('retry-after')).toBe('10');
  });

  test('unload idle sessions; if all are active, reject another one with 503', async () => {
    const { ask, idle } = await rig({ limits: { sessions: 2 } });
    for (const id of ['a', 'b', 'c']) await ask('POST', '/v1/sessions', { id });
    for (const id of ['a', 'b', 'c']) {
      expect((await ask('POST', `/v1/sessions/${id}/prompt`, { content: 'say Hi.' })).status).toBe(202);
      await idle(id);
    }
    for (const id of ['a', 'b']) await ask('POST', `/v1/sessions/${id}/prompt`, { content: 'hang' });
    const third = await ask('POST', '/v1/sessions/c/prompt', { content: 'say Hi.' });
    expect(third).toMatchObject({ status: 503, json: { code: 'too_many_sessions' } });
  });

  test('drop a client that does not read, without delaying others', async () => {
    const bufferBytes = 64 * 1024;
    const { ask, watch, token, server } = await rig({ limits: { bufferBytes } });
    await ask('POST', '/v1/sessions', { id: 's' });
    const { port, hostname } = new URL(server.url);
    const stalled = connect(Number(port), hostname);
    stalled.on('error', () => undefined);
    onTestFinished(() => void stalled.destroy());
    const lines = ['GET /v1/sessions/s/events HTTP/1.1', 'host: 127.0.0.1', `authorization: Bearer ${token}`];
    stalled.write(`${lines.join('\r\n')}\r\n\r\n`);
    stalled.pause();
    const honest = await watch('/v1/sessions/s/events');
    const dropped = async () => /cobbler_sse_dropped_total 1\n/.test((await ask('GET', '/metrics')).text);
    for (let round = 0; round < 200 && !(await dropped()); round += 1) {
      const { json } = await ask('POST', prompt, { content: `say ${'x'.repeat(500_000)}` });
      await honest.until(
        (frame) => frame.json['type'] === 'finished' && frame.json['runId'] === json['runId'],
      );
      await moment();
    }
    expect(await dropped()).toBe(true);
    const seqs = honest.frames.filter(({ id }) => id !== undefined).map(({ id }) => Number(id));
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
  });

  test('answer a prompt with 503 while the store fails, and the server keeps running', async () => {
    const kept = memoryStore();
    let fails = false;
    const store = {
      ...kept,
      append: (...given: Parameters<typeof kept.append>) => {
        if (fails) throw new Error('disk full');
        return kept.append(...given);
      },
    };
    const { ask } = await rig({ store });
    await ask('POST', '/v1/sessions', { id: 's' });
    fails = true;
    expect(await ask('POST', prompt, { content: 'say Hi.' })).toMatchObject({
      status: 503,
      json: { code: 'store' },
    });
    fails = false;
    expect((await ask('POST', prompt, { content: 'say Hi.' })).status).toBe(202);
  });
});

import { describe, expect, test } from 'vitest';
import { defaultLimits } from '../src/requests/limits.ts';
import type { Frame } from './support/rig.ts';
import { rig } from './support/rig.ts';

const isIdle = ({ json }: Frame) => json['type'] === 'status' && json['state'] === 'idle';

describe('GET /events [S4.15]', () => {
  test('streams messages and tool calls as JSON data frames with the specified fields', async () => {
    const { ask, watch } = await rig();
    const events = await watch('/events');
    expect(events.headers).toMatchObject({
      status: '200',
      'content-type': 'text/event-stream; charset=utf-8',
    });
    await ask('POST', '/prompt', { content: 'use look' });
    await events.until(isIdle);
    const told = events.frames.filter(({ json }) => json['type'] !== 'status').map(({ json }) => json);
    const timestamp = expect.any(Number);
    expect(told).toEqual([
      { type: 'user', content: 'use look', timestamp },
      { type: 'text', content: 'Working.', timestamp },
      { type: 'tool_call', id: 'call_0_0', name: 'look', input: { of: 'look' }, timestamp },
      { type: 'tool_result', id: 'call_0_0', result: 'seen', isError: false, timestamp },
      { type: 'text', content: 'seen', timestamp },
    ]);
    const now = Date.now() / 1000;
    for (const frame of told) {
      expect(Number.isInteger(frame['timestamp'])).toBe(true);
      expect(Math.abs(now - Number(frame['timestamp']))).toBeLessThan(60);
    }
  });

  test('reports reasoning unchanged, before the text that follows it [S4.10]', async () => {
    const { ask, watch } = await rig();
    const events = await watch('/events');
    await ask('POST', '/prompt', { content: 'think Done.' });
    await events.until(isIdle);
    const told = events.frames.filter(({ json }) => json['type'] !== 'status').map(({ json }) => json);
    expect(told.map(({ type }) => type)).toEqual(['user', 'reasoning', 'text']);
    expect(told[1]).toEqual({ type: 'reasoning', content: 'Let me think.', timestamp: expect.any(Number) });
  });

  test('reports the status thinking, running_tool and idle, and error after a failure [S4.18]', async () => {
    const { ask, watch, idle } = await rig();
    const events = await watch('/events');
    const states = () =>
      events.frames.filter(({ json }) => json['type'] === 'status').map(({ json }) => json['state']);
    await ask('POST', '/prompt', { content: 'use look' });
    await events.until(isIdle);
    expect(states()).toEqual(['thinking', 'running_tool', 'thinking', 'idle']);
    expect(events.frames.filter(({ json }) => json['type'] === 'status').map(({ id }) => id)).toEqual(
      Array(4).fill(undefined),
    );
    await idle('default');
    await ask('POST', '/prompt', { content: 'fail' });
    const error = await events.until(({ json }) => json['state'] === 'error');
    expect(error.json['message']).toBe('The key was refused.');
  });

  test('sends a client that reconnects exactly the frames after its last event id', async () => {
    const { ask, watch } = await rig();
    const first = await watch('/events');
    await ask('POST', '/prompt', { content: 'use look look' });
    await first.until(isIdle);
    const told = first.frames.filter(({ id }) => id !== undefined);
    expect(told.length).toBeGreaterThan(5);
    for (const [index, { id = '' }] of told.entries()) {
      const again = await watch('/events', { 'last-event-id': id });
      const rest = told.slice(index + 1);
      if (rest.length > 0) await again.until((frame) => frame.id === rest.at(-1)?.id);
      expect(again.frames.filter((frame) => frame.id !== undefined)).toEqual(rest);
      again.close();
    }
  });

  test('sends a new client only later events', async () => {
    const { ask, watch, idle } = await rig();
    await ask('POST', '/prompt', { content: 'say One.' });
    await idle('default');
    const events = await watch('/events');
    await ask('POST', '/prompt', { content: 'say Two.' });
    const first = await events.until(({ id }) => id !== undefined);
    expect(first.json).toMatchObject({ type: 'user', content: 'say Two.' });
  });

  test('sends a comment as a heartbeat every 30 s by default [S4.16]', async () => {
    expect(defaultLimits.plainHeartbeatMs).toBe(30_000);
    const { watch } = await rig({ limits: { plainHeartbeatMs: 20 } });
    const events = await watch('/events');
    await expect.poll(() => events.comments.length).toBeGreaterThan(1);
    expect(events.comments[0]).toBe(': heartbeat');
  });
});

describe('POST /prompt and POST /cancel [S4.17]', () => {
  test('answer a prompt with 200 once it is recorded', async () => {
    const { ask, store } = await rig();
    const answer = await ask('POST', '/prompt', { content: 'say Hello.' });
    expect(answer).toMatchObject({ status: 200, json: { status: 'ok', sessionId: 'default', seq: 1 } });
    expect((await store.read('default'))[0]).toMatchObject({ type: 'user' });
  });

  test.each([
    ['no body', undefined, 'invalid request body'],
    ['a body that is not JSON', '{', 'invalid request body'],
    ['no content', {}, 'content is required'],
    ['empty content', { content: '  ' }, 'content is required'],
    ['content of the wrong type', { content: 7 }, 'content must be a string'],
    ['an unknown field', { content: 'x', model: 'best' }, 'model'],
  ])('reject %s with 400', async (_what, body, detail) => {
    const { ask } = await rig();
    const answer = await ask('POST', '/prompt', body);
    expect(answer.status).toBe(400);
    expect(answer.headers.get('content-type')).toMatch('application/problem+json');
    expect(answer.json['detail']).toContain(detail);
  });

  test('reject a second prompt with 409 and the id of the active run [S4.6]', async () => {
    const { ask } = await rig();
    const first = await ask('POST', '/prompt', { content: 'hang' });
    const second = await ask('POST', '/prompt', { content: 'say Too soon.' });
    expect(second).toMatchObject({
      status: 409,
      json: { code: 'busy', runId: first.json['runId'], detail: 'another prompt is already in progress' },
    });
  });

  test('cancel a run and respond when it has ended; without a run, change nothing [S4.7]', async () => {
    const { ask, store } = await rig();
    await ask('POST', '/prompt', { content: 'hang' });
    expect((await ask('POST', '/cancel')).status).toBe(200);
    const last = (await store.read('default')).at(-1);
    expect(last).toMatchObject({ type: 'finished', status: 'cancelled' });
    expect((await ask('POST', '/cancel')).status).toBe(200);
    expect((await store.read('default')).at(-1)).toEqual(last);
    expect((await ask('POST', '/prompt', { content: 'say On.' })).status).toBe(200);
  });
});

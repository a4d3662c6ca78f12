import type { RunEvent } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import type { Frame } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

const finished = ({ json }: Frame) => json['type'] === 'finished';
const stored = (frames: readonly Frame[]) => frames.filter(({ id }) => id !== undefined);

describe('sessions', () => {
  test('can be created, read, listed and deleted', async () => {
    const { ask, idle } = await rig();
    const made = await ask('POST', '/v1/sessions');
    const id = String(made.json['id']);
    expect(made).toMatchObject({ status: 201, json: { status: 'new', events: 0 } });
    expect(made.headers.get('location')).toBe(`/v1/sessions/${id}`);
    await ask('POST', `/v1/sessions/${id}/prompt`, { content: 'say Hello.' });
    await idle(id);
    const read = await ask('GET', `/v1/sessions/${id}`);
    expect(read).toMatchObject({
      status: 200,
      json: { id, title: 'say Hello.', status: 'complete', events: 3 },
    });
    expect((await ask('GET', '/v1/sessions')).json).toMatchObject({ items: [{ id }] });
    expect((await ask('DELETE', `/v1/sessions/${id}`)).status).toBe(204);
    expect((await ask('GET', `/v1/sessions/${id}`)).status).toBe(404);
    expect((await ask('DELETE', `/v1/sessions/${id}`)).status).toBe(404);
  });

  test('can be renamed with the prompt scope; an empty title restores the first words', async () => {
    const { ask, idle, tokens } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'say Hello.' });
    await idle('s');
    const rename = (title: unknown, to = 's', headers?: Record<string, string>) =>
      ask('PATCH', `/v1/sessions/${to}`, { title }, headers);
    expect(await rename('  My \n bug ')).toMatchObject({ status: 200, json: { id: 's', title: 'My bug' } });
    expect((await ask('GET', '/v1/sessions')).json['items']).toMatchObject([{ title: 'My bug' }]);
    expect((await rename('')).json).toMatchObject({ title: 'say Hello.' });
    expect((await rename('x', 'none')).status).toBe(404);
    for (const title of [undefined, 7, 'x'.repeat(201)]) expect((await rename(title)).status).toBe(400);
    const { token } = tokens.add({ name: 'reads', scopes: ['read'] });
    expect((await rename('x', 's', { authorization: `Bearer ${token}` })).status).toBe(403);
    expect((await ask('GET', '/v1/sessions/s')).json).toMatchObject({ title: 'say Hello.' });
  });

  test('can be created with an id; repeating the request returns the existing session', async () => {
    const { ask } = await rig();
    expect((await ask('POST', '/v1/sessions', { id: 'chat:7' })).status).toBe(201);
    expect((await ask('POST', '/v1/sessions', { id: 'chat:7' })).status).toBe(200);
    expect((await ask('GET', '/v1/sessions/chat%3A7')).status).toBe(200);
  });

  test('are listed page by page', async () => {
    const { ask, idle } = await rig();
    for (const id of ['a', 'b', 'c']) {
      await ask('POST', '/v1/sessions', { id });
      await ask('POST', `/v1/sessions/${id}/prompt`, { content: 'say Hi.' });
      await idle(id);
    }
    const first = await ask('GET', '/v1/sessions?limit=2');
    const second = await ask('GET', `/v1/sessions?limit=2&cursor=${first.json['next']}`);
    const ids = [first, second].flatMap(({ json }) =>
      (json['items'] as { id: string }[]).map(({ id }) => id),
    );
    expect(ids.sort()).toEqual(['a', 'b', 'c']);
    expect(second.json['next']).toBeUndefined();
    expect((await ask('GET', '/v1/sessions?limit=0')).status).toBe(400);
    expect((await ask('GET', '/v1/sessions?cursor=nonsense')).status).toBe(400);
  });

  test('are shown as running during a run, and cannot be deleted then', async () => {
    const { ask } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const { json } = await ask('POST', '/v1/sessions/s/prompt', { content: 'hang' });
    expect((await ask('GET', '/v1/sessions/s')).json).toMatchObject({
      status: 'running',
      runId: json['runId'],
    });
    expect(await ask('DELETE', '/v1/sessions/s')).toMatchObject({ status: 409, json: { code: 'busy' } });
  });

  test('cannot be created or prompted with a model, tools, a directory or permissions', async () => {
    const { ask } = await rig();
    for (const field of ['model', 'tools', 'root', 'system', 'limits', 'permission', 'gate']) {
      expect((await ask('POST', '/v1/sessions', { [field]: 'x' })).status).toBe(400);
      const prompt = { content: 'say Hi.', [field]: 'x' };
      expect((await ask('POST', '/v1/sessions/s/prompt', prompt)).status).toBe(400);
    }
  });

  test('can be forked at an event', async () => {
    const { ask, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    for (const content of ['say One.', 'say Two.']) {
      await ask('POST', '/v1/sessions/s/prompt', { content });
      await idle('s');
    }
    const fork = await ask('POST', '/v1/sessions/s/fork', { upToSeq: 3 });
    const id = String(fork.json['id']);
    expect(fork).toMatchObject({ status: 201, json: { parent: { sessionId: 's', seq: 3 } } });
    await ask('POST', `/v1/sessions/${id}/prompt`, { content: 'count' });
    await idle(id);
    const { messages } = (await ask('GET', `/v1/sessions/${id}/messages`)).json as { messages: unknown[] };
    expect(messages).toHaveLength(4);
    expect((await ask('POST', '/v1/sessions/s/fork', { upToSeq: 99 })).status).toBe(404);
  });

  test('do not continue automatically if they are forked during a run', async () => {
    const { ask, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'use look' });
    await idle('s');
    const fork = await ask('POST', '/v1/sessions/s/fork', { upToSeq: 2 });
    expect(fork.json).toMatchObject({ status: 'cancelled', events: 3 });
  });

  test('report their usage', async () => {
    const { ask, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'use look' });
    await idle('s');
    expect((await ask('GET', '/v1/sessions/s/usage')).json).toMatchObject({
      runs: 1,
      invocations: 2,
      toolCalls: 1,
      usage: { inputTokens: 240, outputTokens: 60 },
    });
  });
});

describe('prompts', () => {
  test('return 202 with the run and the number of its first event', async () => {
    const { ask, store } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const { status, json, headers } = await ask('POST', '/v1/sessions/s/prompt', { content: 'say Hello.' });
    expect([status, json['seq'], headers.get('location')]).toEqual([202, 1, '/v1/sessions/s/events?after=0']);
    expect((await store.read('s'))[0]?.runId).toBe(json['runId']);
  });

  test('start one run per Idempotency-Key, also if they are sent concurrently', async () => {
    const { ask, store, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const key = { 'idempotency-key': 'key-1' };
    const send = (content: string) => ask('POST', '/v1/sessions/s/prompt', { content }, key);
    const answers = await Promise.all([send('say Hello.'), send('say Hello.'), send('say Hello.')]);
    expect(answers.map(({ status, json }) => [status, json['runId'], json['seq']])).toEqual(
      Array(3).fill([202, 'key-1', 1]),
    );
    await idle('s');
    expect((await send('say Hello.')).json).toMatchObject({ runId: 'key-1', seq: 1 });
    expect(await send('say Other.')).toMatchObject({ status: 409, json: { code: 'other_content' } });
    expect((await store.read('s')).filter(({ type }) => type === 'user')).toHaveLength(1);
    const bad = { 'idempotency-key': 'no key!' };
    expect((await ask('POST', '/v1/sessions/s/prompt', { content: 'say x' }, bad)).status).toBe(400);
  });

  test('accept one of twenty concurrent requests and reject the others [P16]', async () => {
    const { ask, store } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const send = () => ask('POST', '/v1/sessions/s/prompt', { content: 'hang' });
    const answers = await Promise.all(Array.from({ length: 20 }, send));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, ...Array(19).fill(409)]);
    await ask('POST', '/v1/sessions/s/cancel');
    expect((await store.read('s')).filter(({ type }) => type === 'user')).toHaveLength(1);
  });

  test('can steer an active run', async () => {
    const { ask, watch } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    expect(await ask('POST', '/v1/sessions/s/steer', { content: 'say Hi.' })).toMatchObject({
      status: 409,
      json: { code: 'not_running' },
    });
    const events = await watch('/v1/sessions/s/events');
    await ask('POST', '/v1/sessions/s/prompt', { content: 'listen' });
    expect((await ask('POST', '/v1/sessions/s/steer', { content: 'say Enough.' })).status).toBe(202);
    expect((await events.until(finished)).json).toMatchObject({ status: 'complete' });
  });

  test('can be cancelled: the response arrives when the run has ended', async () => {
    const { ask, store } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    expect((await ask('POST', '/v1/sessions/s/cancel')).json).toEqual({ status: 'idle' });
    const { json } = await ask('POST', '/v1/sessions/s/prompt', { content: 'hang' });
    const cancelled = await ask('POST', '/v1/sessions/s/cancel', {});
    expect(cancelled.json).toEqual({ status: 'cancelled', runId: json['runId'] });
    expect((await store.read('s')).at(-1)?.type).toBe('finished');
  });

  test('return 404 for an unknown session', async () => {
    const { ask } = await rig();
    const answer = await ask('POST', '/v1/sessions/nowhere/prompt', { content: 'say Hi.' });
    expect(answer).toMatchObject({ status: 404, json: { code: 'no_session' } });
  });
});

describe('GET /v1/sessions/{id}/events', () => {
  test('starts with hello and the heartbeat interval, then sends the log byte for byte', async () => {
    const { ask, watch, store } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const live = await watch('/v1/sessions/s/events');
    await ask('POST', '/v1/sessions/s/prompt', { content: 'use look' });
    await live.until(finished);
    expect(live.frames[0]?.json).toEqual({
      type: 'hello',
      v: 1,
      sessionId: 's',
      heartbeatMs: 15_000,
      after: 0,
      events: 0,
      runId: null,
    });
    const log = await store.read('s');
    const late = await watch('/v1/sessions/s/events');
    await late.until(finished);
    for (const watched of [live, late]) {
      expect(stored(watched.frames).map(({ data }) => data)).toEqual(
        log.map((event) => JSON.stringify(event)),
      );
      expect(stored(watched.frames).map(({ id }) => id)).toEqual(log.map(({ seq }) => String(seq)));
    }
  });

  test('streams text deltas unless they are disabled', async () => {
    const { ask, watch } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const [all, few] = await Promise.all([
      watch('/v1/sessions/s/events'),
      watch('/v1/sessions/s/events?deltas=false'),
    ]);
    await ask('POST', '/v1/sessions/s/prompt', { content: 'say One two three four.' });
    await Promise.all([all.until(finished), few.until(finished)]);
    const deltas = all.frames.filter(({ json }) => json['type'] === 'text_delta');
    expect(deltas.map(({ json }) => json['text']).join('')).toBe('One two three four.');
    expect(deltas.every(({ id }) => id === undefined)).toBe(true);
    expect(few.frames.every(({ id, json }) => id !== undefined || json['type'] === 'hello')).toBe(true);
  });

  test('sends the text so far once to a client that joins during a response', async () => {
    const { ask, watch } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const first = await watch('/v1/sessions/s/events');
    await ask('POST', '/v1/sessions/s/prompt', { content: 'begin Once upon a time' });
    const shown = (frames: readonly Frame[]) =>
      frames.map(({ json }) => (json['type'] === 'text_delta' ? json['text'] : '')).join('');
    await first.until(() => shown(first.frames) === 'Once upon a time');
    const [late, few] = await Promise.all([
      watch('/v1/sessions/s/events?after=1'),
      watch('/v1/sessions/s/events?deltas=false'),
    ]);
    const { json } = await late.until((frame) => frame.json['type'] === 'so_far');
    const events = json['events'] as readonly RunEvent[];
    expect(events[0]).toEqual({ type: 'status', state: 'thinking' });
    const text = events.map((event) => ('text' in event ? event.text : '')).join('');
    expect(text).toBe('Once upon a time');
    await ask('POST', '/v1/sessions/s/cancel');
    await Promise.all([late.until(finished), few.until(finished)]);
    expect(shown(late.frames)).toBe('');
    expect(few.frames.some((frame) => frame.json['type'] === 'so_far')).toBe(false);
    const failed = late.frames.find((frame) => frame.json['type'] === 'ask_failed');
    expect(failed?.json['partial']).toEqual([{ type: 'text', text: 'Once upon a time' }]);
    const after = await watch('/v1/sessions/s/events');
    await after.until(finished);
    expect(after.frames.some((frame) => frame.json['type'] === 'so_far')).toBe(false);
    expect((await ask('GET', '/v1/sessions/s/messages')).text).toContain('Once upon a time');
  });

  test.each(['?after=', ''])('continues after the given event (%s)', async (query: string) => {
    const { ask, watch, idle, store } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'use look' });
    await idle('s');
    const last = (await store.read('s')).length;
    for (let seq = 0; seq <= last; seq += 1) {
      const path = `/v1/sessions/s/events${query === '' ? '' : query + seq}`;
      const events = await watch(path, query === '' ? { 'last-event-id': String(seq) } : {});
      if (seq < last) await events.until(finished);
      expect(stored(events.frames).map(({ id }) => Number(id))).toEqual(
        Array.from({ length: last - seq }, (_, index) => seq + 1 + index),
      );
      events.close();
    }
  });

  test('sends a reset and the whole log for an unknown position', async () => {
    const { ask, watch, idle } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' });
    await idle('s');
    const events = await watch('/v1/sessions/s/events', { 'last-event-id': '99' });
    await events.until(finished);
    expect(events.frames.map(({ id, json }) => id ?? json['type'])).toEqual([
      'hello',
      'reset',
      '1',
      '2',
      '3',
    ]);
    expect((await ask('GET', '/v1/sessions/s/events?after=x')).status).toBe(400);
  });

  test('does not stop the run when a client disconnects [P16]', async () => {
    const { ask, watch, idle, store } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    const events = await watch('/v1/sessions/s/events');
    await ask('POST', '/v1/sessions/s/prompt', { content: 'use look' });
    events.close();
    await idle('s');
    expect((await store.read('s')).at(-1)).toMatchObject({ type: 'finished', status: 'complete' });
  });

  test('sends every event once to clients that join during a run', async () => {
    const { ask, watch } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    await ask('POST', '/v1/sessions/s/prompt', { content: 'loop' });
    const readers = await Promise.all(Array.from({ length: 20 }, () => watch('/v1/sessions/s/events')));
    await Promise.all(readers.map((reader) => reader.until(finished)));
    for (const { frames } of readers) {
      const seqs = stored(frames).map(({ id }) => Number(id));
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    }
  });
});

import { memoryStore } from '@cobbler/agent';
import { memoryRunner } from '@cobbler/agent/runner';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, onTestFinished, test } from 'vitest';
import { sessionWork } from '../../src/index.ts';
import type { Rig } from '../support/rig.ts';
import { moment, rig } from '../support/rig.ts';

/** Starts two servers that share their sessions and execute no runs themselves. */
async function twoServers(): Promise<{ readonly one: Rig; readonly other: Rig }> {
  const kept = memoryStore();
  const watchers = new Set<(sessionId: string) => void>();
  const store: typeof kept = {
    ...kept,
    async append(sessionId, events, writer) {
      await kept.append(sessionId, events, writer);
      for (const tell of watchers) tell(sessionId);
    },
  };
  const runner = memoryRunner({ workflow: sessionWork(store, () => harnessFixture()) });
  onTestFinished(() => runner.close());
  const watch = (listener: (sessionId: string) => void) => {
    watchers.add(listener);
    return () => void watchers.delete(listener);
  };
  const elsewhere = { runner, watch };
  return { one: await rig({ store, elsewhere }), other: await rig({ store, elsewhere }) };
}

async function statusOf(server: Rig, session: string): Promise<unknown> {
  return (await server.ask('GET', `/v1/sessions/${session}`)).json['status'];
}

async function until(server: Rig, session: string, status: string): Promise<void> {
  await expect.poll(() => statusOf(server, session)).toBe(status);
}

describe('servers whose runs execute elsewhere', () => {
  test('stream a run started at one server from the other, complete and in order', async () => {
    const { one, other } = await twoServers();
    await one.ask('POST', '/v1/sessions', { id: 'work' });
    await one.ask('POST', '/v1/sessions/work/prompt', { content: 'say Hello.' });
    await until(one, 'work', 'complete');
    const stream = await other.watch('/v1/sessions/work/events?after=0');
    for (const content of ['use look', 'say Again.', 'use look break']) {
      await one.ask('POST', '/v1/sessions/work/prompt', { content });
      await until(one, 'work', 'complete');
    }
    const log = await one.store.read('work');
    await stream.until(({ id }) => Number(id) === log.length);
    const seqs = stream.frames.flatMap(({ id }) => (id === undefined ? [] : [Number(id)]));
    expect(seqs).toEqual(log.map(({ seq }) => seq));
  });

  test('report an active run as busy at both, and cancel it from the other', async () => {
    const { one, other } = await twoServers();
    await one.ask('POST', '/v1/sessions', { id: 'work' });
    await one.ask('POST', '/v1/sessions/work/prompt', { content: 'hang' });
    const second = await other.ask('POST', '/v1/sessions/work/prompt', { content: 'say Hi.' });
    expect(second).toMatchObject({ status: 409, json: { code: 'busy' } });
    const cancelled = await other.ask('POST', '/v1/sessions/work/cancel', {});
    expect(cancelled.status).toBe(200);
    await until(one, 'work', 'cancelled');
    expect((await one.ask('POST', '/v1/sessions/work/prompt', { content: 'say On.' })).status).toBe(202);
    await until(other, 'work', 'complete');
  });

  test('accept a decision once, also at the server that did not start the run', async () => {
    const { one, other } = await twoServers();
    await one.ask('POST', '/v1/sessions', { id: 'work' });
    await one.ask('POST', '/v1/sessions/work/prompt', { content: 'use write' });
    await until(other, 'work', 'waiting');
    const request = (await one.store.read('work')).find((event) => event.type === 'approval_requested');
    if (request?.type !== 'approval_requested') throw new Error('No approval was requested.');
    const path = `/v1/sessions/work/approvals/${request.approvalId}`;
    const answer = { decision: 'allow', hash: request.hash };
    expect((await other.ask('POST', path, answer)).status).toBe(202);
    await until(one, 'work', 'complete');
    expect((await one.ask('POST', path, answer)).status).toBe(409);
    const started = (await one.store.read('work')).filter(({ type }) => type === 'tool_started');
    expect(started).toHaveLength(1);
  });

  test('list pending approvals at both, oldest first, until the user decides at either', async () => {
    const { one, other } = await twoServers();
    const list = async (server: Rig) => {
      const { items } = (await server.ask('GET', '/v1/approvals')).json as {
        readonly items: readonly { readonly sessionId: string; readonly approvalId: string }[];
      };
      return items;
    };
    for (const id of ['first', 'second']) {
      await one.ask('POST', '/v1/sessions', { id });
      await one.ask('POST', `/v1/sessions/${id}/prompt`, { content: 'use write' });
      await until(one, id, 'waiting');
    }
    // The other server has not received a request for these sessions.
    const asked = await list(other);
    expect(asked.map(({ sessionId }) => sessionId)).toEqual(['first', 'second']);
    const path = `/v1/sessions/first/approvals/${asked[0]?.approvalId}`;
    await one.ask('POST', path, { decision: 'deny' });
    await until(one, 'first', 'complete');
    expect((await list(other)).map(({ sessionId }) => sessionId)).toEqual(['second']);
    expect(await list(one)).toEqual(await list(other));
  });

  test('do not end their runs when they stop', async () => {
    const { one, other } = await twoServers();
    await one.ask('POST', '/v1/sessions', { id: 'work' });
    await one.ask('POST', '/v1/sessions/work/prompt', { content: 'use hold' });
    await expect.poll(async () => (await one.store.read('work')).length).toBeGreaterThan(2);
    await one.server.close();
    await moment();
    expect(await statusOf(other, 'work')).toBe('running');
    await other.ask('POST', '/v1/sessions/work/cancel', {});
    await until(other, 'work', 'cancelled');
  });
});

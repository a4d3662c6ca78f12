import { memoryStore } from '@cobbler/agent';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, test } from 'vitest';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';

interface Asked {
  readonly approvalId: string;
  readonly hash: string;
  readonly toolName: string;
}

/** Runs a session until it waits for a decision, and returns the approval request. */
async function waiting(one: Rig, id = 's'): Promise<Asked> {
  await one.ask('POST', '/v1/sessions', { id });
  await one.ask('POST', `/v1/sessions/${id}/prompt`, { content: 'use write' });
  await one.idle(id);
  const { items } = (await one.ask('GET', `/v1/approvals?session=${id}`)).json as { items: Asked[] };
  const [asked] = items;
  if (asked === undefined) throw new Error('No approval is requested.');
  return asked;
}

const path = ({ approvalId }: Asked, id = 's') => `/v1/sessions/${id}/approvals/${approvalId}`;
const started = async ({ store }: Rig, id = 's') =>
  (await store.read(id)).filter(({ type }) => type === 'tool_started').length;

describe('approvals', () => {
  test('report the exact call and wait', async () => {
    const one = await rig();
    const asked = await waiting(one);
    expect(asked).toMatchObject({ toolName: 'write', sessionId: 's', arguments: { of: 'write' } });
    expect((await one.ask('GET', path(asked))).json).toEqual(asked);
    expect((await one.ask('GET', '/v1/sessions/s')).json['status']).toBe('waiting');
    expect(await started(one)).toBe(0);
  });

  test('run the call when allowed, and the run continues', async () => {
    const one = await rig();
    const asked = await waiting(one);
    const answer = await one.ask('POST', path(asked), { decision: 'allow', hash: asked.hash });
    expect(answer).toMatchObject({ status: 202, json: { sessionId: 's' } });
    await one.idle('s');
    expect((await one.store.read('s')).at(-1)).toMatchObject({ type: 'finished', status: 'complete' });
    expect(await started(one)).toBe(1);
    expect((await one.ask('GET', '/v1/approvals')).json).toEqual({ items: [] });
    expect((await one.ask('GET', path(asked))).json['decision']).toBe('allow');
  });

  test('send the reason of a denial to the model', async () => {
    const one = await rig();
    const asked = await waiting(one);
    expect((await one.ask('POST', path(asked), { decision: 'deny', message: 'Not today.' })).status).toBe(
      202,
    );
    await one.idle('s');
    expect(await started(one)).toBe(0);
    const { messages } = (await one.ask('GET', '/v1/sessions/s/messages')).json;
    expect(JSON.stringify(messages)).toContain('Not today.');
  });

  test('accept one decision: a repeated one gets 409, whether it allows or denies', async () => {
    const one = await rig();
    const asked = await waiting(one);
    const allow = { decision: 'allow', hash: asked.hash };
    const answers = await Promise.all(Array.from({ length: 5 }, () => one.ask('POST', path(asked), allow)));
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409, 409, 409]);
    await one.idle('s');
    const again = await one.ask('POST', path(asked), { decision: 'deny' });
    expect(again).toMatchObject({ status: 409, json: { code: 'decided' } });
    expect(await started(one)).toBe(1);
  });

  test('apply to the exact arguments: a decision with another hash gets 409 and changes nothing', async () => {
    const one = await rig();
    const asked = await waiting(one);
    for (const hash of ['0'.repeat(64), undefined]) {
      const answer = await one.ask('POST', path(asked), { decision: 'allow', hash });
      expect(answer).toMatchObject({ status: 409, json: { code: 'other_arguments', hash: asked.hash } });
    }
    const other = await one.ask('POST', path(asked), { decision: 'allow', hash: asked.hash, arguments: {} });
    expect(other.status).toBe(400);
    expect(await started(one)).toBe(0);
    expect((await one.ask('POST', path(asked), { decision: 'allow', hash: asked.hash })).status).toBe(202);
  });

  test('expire: a late decision gets 409', async () => {
    const one = await rig({ settings: () => ({ ...harnessFixture(), approvalMs: 1 }) });
    await one.ask('POST', '/v1/sessions', { id: 's' });
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'use write' });
    await one.idle('s');
    const request = (await one.store.read('s')).find((event) => event.type === 'approval_requested');
    if (request?.type !== 'approval_requested') throw new Error('No approval is requested.');
    await expect.poll(() => Date.now() > (request.expiresAt ?? Number.POSITIVE_INFINITY)).toBe(true);
    const answer = await one.ask('POST', path(request), { decision: 'allow', hash: request.hash });
    expect(answer).toMatchObject({ status: 409, json: { code: 'expired' } });
    expect((await one.ask('GET', '/v1/approvals')).json).toEqual({ items: [] });
    expect(await started(one)).toBe(0);
  });

  test('end when a new prompt starts: a later decision gets 409', async () => {
    const one = await rig();
    const asked = await waiting(one);
    await one.ask('POST', '/v1/sessions/s/prompt', { content: 'say On.' });
    await one.idle('s');
    const answer = await one.ask('POST', path(asked), { decision: 'allow', hash: asked.hash });
    expect(answer).toMatchObject({ status: 409, json: { code: 'decided' } });
  });

  test('return 404 if they are unknown or belong to another session', async () => {
    const one = await rig();
    const asked = await waiting(one);
    await waiting(one, 'other');
    const answer = { decision: 'allow', hash: asked.hash };
    expect((await one.ask('POST', '/v1/sessions/s/approvals/none', answer)).status).toBe(404);
    expect((await one.ask('POST', path(asked, 'other'), answer)).status).toBe(404);
    expect((await one.ask('POST', path(asked, 'nowhere'), answer)).status).toBe(404);
  });

  test('survive a restart, and so do recorded decisions', async () => {
    const store = memoryStore();
    const first = await rig({ store });
    const [asked, decided] = [await waiting(first), await waiting(first, 'decided')];
    const deny = { decision: 'deny' };
    await first.ask('POST', path(decided, 'decided'), deny);
    await first.idle('decided');
    await first.server.close();
    const second = await rig({ store });
    expect((await second.ask('GET', '/v1/approvals')).json).toEqual({ items: [asked] });
    expect((await second.ask('POST', path(decided, 'decided'), deny)).status).toBe(409);
    const allow = { decision: 'allow', hash: asked.hash };
    expect((await second.ask('POST', path(asked), allow)).status).toBe(202);
    await second.idle('s');
    expect(await started(second)).toBe(1);
  });

  test('are removed with their session', async () => {
    const one = await rig();
    const asked = await waiting(one);
    await one.ask('DELETE', '/v1/sessions/s');
    expect((await one.ask('GET', '/v1/approvals')).json).toEqual({ items: [] });
    expect((await one.ask('POST', path(asked), { decision: 'deny' })).status).toBe(404);
  });
});

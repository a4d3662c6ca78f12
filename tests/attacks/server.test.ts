import { describe, expect, test } from 'vitest';
import type { Guest } from '../../apps/server/test/support/guest.ts';
import { guest } from '../../apps/server/test/support/guest.ts';
import type { Attack, Scene } from './server-scene.ts';
import { repelled, scene, send, share } from './server-scene.ts';

const approvalPath = ({ approval }: Scene, session = 's') =>
  `/v1/sessions/${session}/approvals/${approval.id}`;

/** The same request by Eve, and by Ann, who may send it. */
function asEve(name: string, method: string, path: string, body?: unknown, level?: Attack[3]): Attack {
  const by = (who: 'ann' | 'eve') => (on: Scene) =>
    on[who].ask(method, path.replace('APPROVAL', on.approval.id), bodyFor(on, body));
  return [name, by('eve'), by('ann'), level];
}

function bodyFor({ approval }: Scene, body: unknown): unknown {
  if (body === undefined) return undefined;
  return JSON.parse(
    JSON.stringify(body).replaceAll('APPROVAL', approval.id).replaceAll('HASH', approval.hash),
  );
}

const allow = { decision: 'allow', hash: 'HASH' };
const message = [{ id: 'm', role: 'user', content: 'say Hi.' }];
const watch = (path: string, more: Record<string, string> = {}): Attack => [
  `by the stream ${path}`,
  ({ one, eve }) => send(one, path, { ...eve.headers, ...more }),
  ({ one, ann }) => send(one, path, { ...ann.headers, ...more }),
];

describe('a session is used by another user', () => {
  repelled([
    asEve('by its id', 'GET', '/v1/sessions/s'),
    asEve('by its conversation', 'GET', '/v1/sessions/s/messages'),
    asEve('by its usage', 'GET', '/v1/sessions/s/usage'),
    asEve('by another method', 'HEAD', '/v1/sessions/s'),
    watch('/v1/sessions/s/events'),
    watch('/v1/sessions/s/events?after=1', { 'last-event-id': '0' }),
    watch('/v1/sessions/s/events?deltas=false'),
    asEve('by a prompt', 'POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }),
    asEve('by a copy', 'POST', '/v1/sessions/s/fork', {}),
    asEve('by a new title', 'PATCH', '/v1/sessions/s', { title: 'Mine' }),
    asEve('by deletion', 'DELETE', '/v1/sessions/s'),
    asEve('by resuming it', 'POST', '/v1/sessions/s/resume', {
      answers: [{ approvalId: 'APPROVAL', ...allow }],
    }),
    asEve('by creating it again', 'POST', '/v1/sessions', { id: 's' }),
    asEve('by AG-UI', 'POST', '/v1/ag-ui', { threadId: 's', runId: 'r', messages: message }),
    asEve('by a response of OpenAI clients', 'POST', '/openai/v1/responses', {
      ...{ model: 'cobbler', input: 'say Hi.', previous_response_id: 'resp_1_s' },
    }),
    asEve('by its approval', 'GET', '/v1/sessions/s/approvals/APPROVAL'),
    asEve('by a decision', 'POST', '/v1/sessions/s/approvals/APPROVAL', allow),
    asEve('by sharing it with oneself', 'PATCH', '/v1/sessions/s', { share: { with: 'eve', may: 'use' } }),
  ]);

  test('by lists that name it', async () => {
    const { eve } = await scene();
    for (const path of ['/v1/sessions', '/v1/approvals', '/v1/approvals?session=s', '/v1/costs?by=session']) {
      const { json, text } = await eve.ask('GET', path);
      expect([path, json['items'], text.includes('"s"')]).toEqual([path, [], false]);
    }
  });

  test('by a wrong decision, which tells its owner the hash', async () => {
    const on = await scene();
    const wrong = (by: Guest) => by.ask('POST', approvalPath(on), { decision: 'allow', hash: 'wrong' });
    expect((await wrong(on.eve)).json['code']).toBe('no_session');
    expect((await wrong(on.ann)).text).toContain(on.approval.hash);
  });

  test.each(['Ann', 'ann ', 'ann\u200b', 'a', ''])('by a token with the similar name %j', async (name) => {
    const { one } = await scene();
    expect((await guest(one, name).ask('GET', '/v1/sessions/s')).status).toBe(404);
    expect((await guest(one, 'ann').ask('GET', '/v1/sessions/s')).status).toBe(200);
  });
});

describe('a share is used beyond its level', () => {
  repelled([
    asEve('read: a prompt', 'POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }, 'read'),
    asEve('read: a copy', 'POST', '/v1/sessions/s/fork', {}, 'read'),
    asEve('read: a decision', 'POST', '/v1/sessions/s/approvals/APPROVAL', allow, 'read'),
    asEve('read: a denial', 'POST', '/v1/sessions/s/approvals/APPROVAL', { decision: 'deny' }, 'read'),
    asEve(
      'read: a decision by AG-UI',
      'POST',
      '/v1/ag-ui',
      {
        ...{ threadId: 's', runId: 'r', messages: [] },
        resume: [{ interruptId: 'APPROVAL.HASH', status: 'resolved', payload: { approved: true } }],
      },
      'read',
    ),
    asEve('approve: a prompt', 'POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }, 'approve'),
    asEve(
      'approve: a prompt by AG-UI',
      'POST',
      '/v1/ag-ui',
      { threadId: 's', runId: 'r', messages: message },
      'approve',
    ),
    asEve('approve: a new title', 'PATCH', '/v1/sessions/s', { title: 'Mine' }, 'approve'),
    asEve('use: deletion', 'DELETE', '/v1/sessions/s', undefined, 'use'),
    asEve(
      'use: a share for a third user',
      'PATCH',
      '/v1/sessions/s',
      { share: { with: 'bob', may: 'read' } },
      'use',
    ),
    asEve(
      'read: a higher level for oneself',
      'PATCH',
      '/v1/sessions/s',
      { share: { with: 'eve', may: 'use' } },
      'read',
    ),
    asEve(
      'use: a share with a title',
      'PATCH',
      '/v1/sessions/s',
      {
        ...{ title: 'Mine', share: { with: 'bob', may: 'use' } },
      },
      'use',
    ),
    asEve(
      'use: the end of the share of another user',
      'PATCH',
      '/v1/sessions/s',
      { share: { with: 'bob', may: 'none' } },
      'use',
    ),
    [
      'a token that only reads, although the share allows prompts',
      ({ one }) => guest(one, 'eve', ['read']).ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }),
      ({ eve }) => eve.ask('POST', '/v1/sessions/s/prompt', { content: 'say Hi.' }),
      'use',
    ],
    [
      'a token that does not approve, although the share allows decisions',
      (on) => {
        const body = bodyFor(on, { answers: [{ approvalId: 'APPROVAL', ...allow }] });
        return guest(on.one, 'eve', ['read', 'prompt']).ask('POST', '/v1/sessions/s/resume', body);
      },
      (on) => {
        const body = bodyFor(on, { answers: [{ approvalId: 'APPROVAL', ...allow }] });
        return on.eve.ask('POST', '/v1/sessions/s/resume', body);
      },
      'use',
    ],
    [
      'a token of the owner that shares a scope that it lacks',
      ({ one }) => share(guest(one, 'ann', ['read', 'prompt']), { with: 'bob', may: 'approve' }),
      ({ ann }) => share(ann, { with: 'bob', may: 'approve' }),
    ],
    [
      'a level that does not exist',
      ({ ann }) => share(ann, { with: 'eve', may: 'admin' }),
      ({ ann }) => share(ann, { with: 'eve', may: 'use' }),
    ],
  ]);

  test.each(['__proto__', 'constructor', 'toString', 'undefined', 'null', 'Eve', 'eve '])(
    'by a token with the name %j',
    async (name) => {
      const { one, eve } = await scene('use');
      expect((await guest(one, name).ask('GET', '/v1/sessions/s')).status).toBe(404);
      expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(200);
    },
  );

  test('after it has ended: by requests, and by a stream that is still open', {
    timeout: 20_000,
  }, async () => {
    const { one, ann, eve } = await scene('use');
    const stream = await one.watch('/v1/sessions/s/events', eve.headers);
    await stream.until(({ data }) => data.includes('use write'));
    await share(ann, { with: 'eve', may: 'none' });
    await stream.over;
    expect((await eve.ask('GET', '/v1/sessions/s/messages')).status).toBe(404);
    await ann.ask('DELETE', '/v1/sessions/s');
  });

  test('after the session was deleted and its id created again', async () => {
    const { ann, eve } = await scene('use');
    await ann.ask('DELETE', '/v1/sessions/s');
    await ann.ask('POST', '/v1/sessions', { id: 's' });
    await ann.ask('POST', '/v1/sessions/s/prompt', { content: 'say Secret.' });
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(404);
  });
});

const decide = (on: Scene, body: unknown, path = approvalPath(on)) => on.ann.ask('POST', path, body);
const asShown = (on: Scene) => decide(on, { decision: 'allow', hash: on.approval.hash });

describe('an approval is decided for something else', () => {
  repelled([
    ['without a hash', (on) => decide(on, { decision: 'allow' }), asShown],
    ['with a replaced hash', (on) => decide(on, { decision: 'allow', hash: '0'.repeat(64) }), asShown],
    [
      'with the start of the hash',
      (on) => decide(on, { decision: 'allow', hash: on.approval.hash.slice(0, 32) }),
      asShown,
    ],
    [
      'with other arguments beside the hash',
      (on) => decide(on, { decision: 'allow', hash: on.approval.hash, arguments: {} }),
      asShown,
    ],
    ['with an unknown decision', (on) => decide(on, { decision: 'always', hash: on.approval.hash }), asShown],
    [
      'by the id of a session of the attacker',
      async (on) => {
        await on.eve.ask('POST', '/v1/sessions', { id: 'mine' });
        await on.eve.ask('POST', '/v1/sessions/mine/prompt', { content: 'say Hi.' });
        await on.one.idle('mine');
        const body = { decision: 'allow', hash: on.approval.hash };
        return await on.eve.ask('POST', approvalPath(on, 'mine'), body);
      },
      asShown,
    ],
    [
      'by a token that may only prompt',
      (on) => guest(on.one, 'ann', ['read', 'prompt']).ask('POST', approvalPath(on), { decision: 'deny' }),
      asShown,
    ],
  ]);

  test('twice', async () => {
    const on = await scene();
    const answers = await Promise.all([asShown(on), asShown(on), decide(on, { decision: 'deny' })]);
    expect(answers.map(({ status }) => status).sort()).toEqual([202, 409, 409]);
  });
});

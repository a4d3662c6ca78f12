import { memoryStore } from '@cobbler/agent';
import { describe, expect, test } from 'vitest';
import { guest, idsIn, startSession } from '../support/guest.ts';
import type { Answered, Rig } from '../support/rig.ts';
import { moment, rig } from '../support/rig.ts';
import { sessionBodies, sessionRoutesOf } from '../support/session-routes.ts';

/** What a client can distinguish: everything but the id and what differs in each response. */
function visible({ status, headers, text }: Answered, id: string): unknown {
  const rest = [...headers].filter(([name]) => !['date', 'x-request-id'].includes(name));
  return [status, rest, text.replaceAll(id, 'ID').replace(/"requestId":"[^"]*"/, '')];
}

describe('a session of another user [P15]', () => {
  test('is answered like one that does not exist, by every route and method', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await startSession(one, ann, 'known-1', 'use write');
    const [approvalId] = idsIn(await ann.ask('GET', '/v1/approvals'), 'approvalId');
    const before = await one.store.read('known-1');
    const routes = await sessionRoutesOf(one);
    expect(routes.length).toBeGreaterThan(14);
    for (const { name, method, path } of routes) {
      const answerTo = async (id: string) => {
        const url = path
          .replace('{sessionId}', id)
          .replace('{approvalId}', String(approvalId))
          .replace('{commandId}', 'bg1');
        return visible(await eve.ask(method, url, sessionBodies[name]), id);
      };
      const answer = await answerTo('known-1');
      expect([name, answer]).toEqual([name, await answerTo('other-1')]);
      expect([name, answer]).toEqual([name, [404, expect.anything(), expect.stringContaining('no_session')]]);
    }
    expect(await one.store.read('known-1')).toEqual(before);
    expect((await ann.ask('GET', '/v1/sessions/known-1')).json).toMatchObject({
      ...{ status: 'waiting', title: 'use write', user: 'ann' },
    });
  });

  test('is answered like one that does not exist, by the routes that name it elsewhere', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await startSession(one, ann, 'known-1', 'use write');
    const [approvalId] = idsIn(await ann.ask('GET', '/v1/approvals'), 'approvalId');
    const asks: ((id: string) => Promise<Answered>)[] = [
      (id) => eve.ask('GET', `/v1/approvals?session=${id}`),
      (id) => {
        const resume = [{ interruptId: `${approvalId}.x`, status: 'cancelled' }];
        return eve.ask('POST', '/v1/ag-ui', { threadId: id, runId: 'r', messages: [], resume });
      },
      (id) => {
        const body = { model: 'cobbler', input: 'say Hi.', previous_response_id: `resp_1_${id}` };
        return eve.ask('POST', '/openai/v1/responses', body);
      },
    ];
    const answers: unknown[] = [];
    for (const ask of asks) {
      const answer = await ask('known-1');
      expect(visible(answer, 'known-1')).toEqual(visible(await ask('other-1'), 'other-1'));
      answers.push([answer.status, answer.json['items']]);
    }
    expect(answers).toEqual([
      [200, []],
      [404, undefined],
      [404, undefined],
    ]);
  });

  test('is in no list, and its costs are not counted', async () => {
    const one = await rig();
    const [ann, bob] = [guest(one, 'ann'), guest(one, 'bob')];
    await startSession(one, ann, 'a1', 'use write');
    await startSession(one, bob, 'b1');
    await startSession(one, ann, 'a2');
    const seenBy = async (user: Pick<Rig, 'ask'>) => [
      idsIn(await user.ask('GET', '/v1/sessions')).sort(),
      idsIn(await user.ask('GET', '/v1/approvals'), 'sessionId'),
      idsIn(await user.ask('GET', '/v1/costs?by=session'), 'key').sort(),
    ];
    expect(await seenBy(ann)).toEqual([['a1', 'a2'], ['a1'], ['a1', 'a2']]);
    expect(await seenBy(bob)).toEqual([['b1'], [], ['b1']]);
    expect(await seenBy(guest(one, 'eve'))).toEqual([[], [], []]);
    expect(await seenBy(one)).toEqual([['a1', 'a2', 'b1'], ['a1'], ['a1', 'a2', 'b1']]);
  });

  test('does not hide the sessions of a user on later pages of the list', async () => {
    const one = await rig();
    const [ann, bob] = [guest(one, 'ann'), guest(one, 'bob')];
    await startSession(one, ann, 'a');
    for (const id of ['b', 'c', 'd']) await startSession(one, bob, id);
    const { json } = await ann.ask('GET', '/v1/sessions?limit=1');
    expect(json).toMatchObject({ items: [{ id: 'a' }] });
    expect(json['next']).toBeUndefined();
  });

  test('does not shorten the pages of the list', async () => {
    const one = await rig();
    const [ann, bob] = [guest(one, 'ann'), guest(one, 'bob')];
    for (const id of ['a', 'b', 'c']) await startSession(one, ann, id);
    await startSession(one, bob, 'x');
    await startSession(one, ann, 'd');
    for (const id of ['y', 'z']) await startSession(one, bob, id);
    const first = await ann.ask('GET', '/v1/sessions?limit=3');
    expect(idsIn(first)).toEqual(['d', 'c', 'b']);
    expect(idsIn(await ann.ask('GET', `/v1/sessions?limit=3&cursor=${first.json['next']}`))).toEqual(['a']);
  });

  test('does not pass its approvals on to who creates its id again', async () => {
    const store = memoryStore();
    const [first, second] = [await rig({ store }), await rig({ store })];
    const ann = guest(first, 'ann');
    await startSession(first, ann, 's', 'use write');
    const { json } = await ann.ask('GET', '/v1/approvals');
    const asked = Date.parse((json['items'] as { askedAt: string }[])[0]?.askedAt ?? '');
    while (Date.now() <= asked) await moment();
    await store.delete('s');
    await startSession(second, guest(second, 'eve'), 's');
    const eve = guest(first, 'eve');
    expect((await eve.ask('GET', '/v1/sessions/s')).status).toBe(200);
    expect((await eve.ask('GET', '/v1/approvals')).json['items']).toEqual([]);
  });

  test('leaves no approvals when any route creates its id again', async () => {
    const one = await rig();
    expect((await guest(one, 'ann').ask('POST', '/prompt', { content: 'use write' })).status).toBe(200);
    await one.idle('default');
    expect(idsIn(await one.ask('GET', '/v1/approvals'), 'sessionId')).toEqual(['default']);
    await one.store.delete('default');
    await one.watch('/events', guest(one, 'eve').headers);
    expect((await one.ask('GET', '/v1/approvals')).json['items']).toEqual([]);
  });

  test('cannot be created, opened or replaced under its id', async () => {
    const one = await rig();
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    await startSession(one, ann, 's');
    expect((await ann.ask('POST', '/v1/sessions', { id: 'new' })).status).toBe(201);
    expect((await ann.ask('POST', '/prompt', { content: 'say Hi.' })).status).toBe(200);
    const messages = [{ id: 'm', role: 'user', content: 'say Hi.' }];
    const answers = [
      await eve.ask('POST', '/v1/sessions', { id: 's' }),
      await eve.ask('POST', '/v1/sessions', { id: 'new' }),
      await eve.ask('GET', '/events'),
      await eve.ask('POST', '/prompt', { content: 'say Hi.' }),
      await eve.ask('POST', '/cancel'),
      await eve.ask('POST', '/v1/ag-ui', { threadId: 's', runId: 'r', messages }),
    ];
    expect(answers.map(({ status, json }) => [status, json['code']])).toEqual(
      answers.map(() => [409, 'id_taken']),
    );
    expect((await ann.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(200);
    expect((await one.ask('POST', '/v1/sessions', { id: 's' })).status).toBe(200);
  });

  test('is another one, although both chose the same idempotency key', async () => {
    const one = await rig();
    const body = { model: 'cobbler', input: 'say Hi.' };
    const key = { 'idempotency-key': 'first' };
    const [ann, eve] = [guest(one, 'ann'), guest(one, 'eve')];
    const responses = [
      await ann.ask('POST', '/openai/v1/responses', body, key),
      await eve.ask('POST', '/openai/v1/responses', body, key),
      await ann.ask('POST', '/openai/v1/responses', body, key),
    ];
    const [first, other, again] = responses.map(({ json }) => json['id']);
    expect([responses.map(({ status }) => status), again]).toEqual([[200, 200, 200], first]);
    expect(other).not.toBe(first);
  });
});

import type { Agent } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import type { ModelChange, NextModel, ServerModels } from '../../src/index.ts';
import { rig } from '../support/rig.ts';

/** Models whose choices are only kept, and the settings that follow them. */
function twoModels() {
  const chosen = new Map<string, NextModel>();
  const efforts = ['low', 'high'];
  const of = (id: string): NextModel => chosen.get(id) ?? { model: 'one', efforts };
  const models: ServerModels = {
    list: [{ name: 'one' }, { name: 'two', text: '$1 in $2 out' }],
    of,
    choose: async (id, { model = of(id).model, effort }: ModelChange) => {
      chosen.set(id, { efforts, model, ...(typeof effort === 'string' && { effort }) });
    },
    copy: (from, to) => void chosen.set(to, of(from)),
  };
  const agents: Record<string, Agent> = {
    one: { ...scriptedAgent(['First.', 'Again.']), model: 'one' },
    two: { ...scriptedAgent(['Second.']), model: 'two' },
  };
  const settings = (id: string) => ({ agent: agents[of(id).model] ?? scriptedAgent([]) });
  return { models, settings };
}

describe('the model of a session', () => {
  test('is chosen for its next run and for copies; other sessions keep theirs', async () => {
    const { ask, idle, store } = await rig({
      ...twoModels(),
      place: () => ({ folder: 'shoes', permission: 'read-only' }),
    });
    const next = { model: 'one', efforts: ['low', 'high'] };
    expect((await ask('GET', '/v1/setup')).json).toEqual({
      ...{ folder: 'shoes', permission: 'read-only', next, local: false },
      models: [{ name: 'one' }, { name: 'two', text: '$1 in $2 out' }],
    });
    await ask('POST', '/v1/sessions', { id: 's' });
    for (const change of [undefined, { model: 'two', effort: 'high' }]) {
      if (change !== undefined)
        expect((await ask('PATCH', '/v1/sessions/s', change)).json).toMatchObject({ next: change });
      await ask('POST', '/v1/sessions/s/prompt', { content: 'Go.' });
      await idle('s');
    }
    const texts = (await store.read('s')).flatMap((event) =>
      event.type === 'assistant' ? event.content.map((part) => part.type === 'text' && part.text) : [],
    );
    expect(texts).toEqual(['First.', 'Second.']);
    const fork = String((await ask('POST', '/v1/sessions/s/fork', { upToSeq: 3 })).json['id']);
    expect((await ask('GET', `/v1/sessions/${fork}`)).json).toMatchObject({ next: { model: 'two' } });
    expect((await ask('PATCH', '/v1/sessions/s', { effort: null })).json['next']).toEqual({
      ...next,
      model: 'two',
    });
    await ask('POST', '/v1/sessions', { id: 'other' });
    expect((await ask('GET', '/v1/sessions/other')).json['next']).toEqual(next);
  });

  test('can only be one that the server offers, and only its owner chooses it', async () => {
    const { ask, tokens } = await rig(twoModels());
    await ask('POST', '/v1/sessions', { id: 's' });
    const choose = (change: unknown, headers?: Record<string, string>) =>
      ask('PATCH', '/v1/sessions/s', change, headers);
    expect(await choose({ model: 'three' })).toMatchObject({ status: 400, json: { code: 'not_offered' } });
    expect(await choose({ effort: 'max' })).toMatchObject({ status: 400, json: { code: 'not_offered' } });
    for (const change of [{}, { model: 7 }, { effort: 1 }, { model: 'two', limits: {} }])
      expect((await choose(change)).status).toBe(400);
    const { token } = tokens.add({ name: 'reads', scopes: ['read'] });
    expect((await choose({ model: 'two' }, { authorization: `Bearer ${token}` })).status).toBe(403);
    expect((await ask('GET', '/v1/sessions/s')).json['next']).toMatchObject({ model: 'one' });
  });

  test('cannot be chosen without models', async () => {
    const { ask } = await rig();
    await ask('POST', '/v1/sessions', { id: 's' });
    expect((await ask('GET', '/v1/setup')).json).toEqual({ models: [], local: false });
    expect((await ask('PATCH', '/v1/sessions/s', { model: 'one' })).json).toMatchObject({
      code: 'not_offered',
    });
    expect((await ask('GET', '/v1/sessions/s')).json).not.toHaveProperty('next');
  });
});

import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import type { OpenModel } from '../../src/server/session-models.ts';
import { SessionModels } from '../../src/server/session-models.ts';
import type { ChosenModel } from '../../src/session/session-metadata.ts';

const agent = scriptedAgent([]);
const reasoning = { ...agent, capabilities: { ...agent.capabilities, reasoning: true } };
const pricing = () => undefined;

function models(): { models: SessionModels; opened: Parameters<OpenModel>[0][] } {
  const opened: Parameters<OpenModel>[0][] = [];
  const open: OpenModel = async (choice) => {
    opened.push(choice);
    if (choice.model === 'broken') throw new Error('There is no key.');
    return { agent: { ...reasoning, model: `${choice.model}-1` }, pricing, effort: choice.effort };
  };
  const first = { agent: { ...reasoning, model: 'first' }, pricing, effort: 'low' as const };
  return { models: new SessionModels({ list: [{ name: 'best', text: '' }], first, open }), opened };
}

describe('the models of the sessions of a server', () => {
  test('keep what was not chosen: the model with another effort, the effort with another model', async () => {
    const { models: all, opened } = models();
    const efforts = ['low', 'medium', 'high', 'max'];
    expect(all.of('s')).toEqual({ model: 'first', effort: 'low', efforts });
    await all.choose('s', { model: 'best' });
    await all.choose('s', { effort: 'high' });
    expect(all.of('s')).toEqual({ model: 'best', effort: 'high', efforts });
    await all.choose('s', { effort: null });
    expect(opened).toEqual([
      { model: 'best', effort: 'low' },
      { model: 'best', effort: 'high' },
      { model: 'best' },
    ]);
    expect(all.modelOf('s').agent.model).toBe('best-1');
    expect(all.modelOf('other').agent.model).toBe('first');
  });

  test('go with a copy, end with a session, and are kept for the last 1,000 sessions', async () => {
    const { models: all } = models();
    await all.choose('s', { model: 'best' });
    all.copy('s', 'copy');
    all.copy('other', 'second');
    all.forget('s');
    expect(['s', 'copy', 'second'].map((id) => all.of(id).model)).toEqual(['first', 'best', 'first']);
    for (let at = 0; at < 1_000; at += 1) all.copy(at === 0 ? 'copy' : '0', String(at));
    expect(['copy', '0', '999'].map((id) => all.of(id).model)).toEqual(['first', 'best', 'best']);
  });

  test('are kept by name and opened again after a restart, if the server still offers them', async () => {
    const { models: before } = models();
    const kept = new Map<string, ChosenModel>();
    before.keep = (id, chosen) => void kept.set(id, chosen);
    await before.choose('s', { model: 'best', effort: 'high' });
    await before.choose('t', { effort: 'max' });
    before.copy('s', 'copy');
    expect([...kept]).toEqual([
      ['s', { model: 'best', effort: 'high' }],
      ['t', { effort: 'max' }],
      ['copy', { model: 'best', effort: 'high' }],
    ]);
    const { models: after } = models();
    for (const [id, chosen] of kept) await after.restore(id, chosen);
    expect(after.of('s')).toMatchObject({ model: 'best', effort: 'high' });
    expect(after.of('t')).toMatchObject({ effort: 'max' });
    // What was chosen since stays.
    await after.restore('s', { effort: 'low' });
    expect(after.of('s')).toMatchObject({ model: 'best', effort: 'high' });
    for (const chosen of [{ model: 'gone' }, { effort: 'absurd' }]) await after.restore('u', chosen);
    expect(after.of('u')).toMatchObject({ model: 'first', effort: 'low' });
  });

  test('keep the model if another one cannot be opened, and say why', async () => {
    const { models: all } = models();
    await expect(all.choose('s', { model: 'broken' })).rejects.toMatchObject({
      ...{ kind: 'invalid', code: 'not_offered', message: 'There is no key.' },
    });
    expect(all.of('s').model).toBe('first');
  });
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { BudgetClient, memoryBudgets } from '@cobbler/agent/budgets';
import { sqliteStore } from '@cobbler/agent/node';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ServerBudgets } from '../../src/index.ts';
import { rig } from '../support/rig.ts';

/** The budgets of a company: one request a day for `guest`, and `other` outside the company. */
async function budgets(rest: { readonly name?: string } = {}): Promise<ServerBudgets> {
  const store = memoryBudgets();
  await store.define({ name: 'company', limits: { requests: 3 } });
  await store.define({ name: 'guest', parent: 'company', per: 'day', limits: { requests: 1 } });
  await store.define({ name: 'other', limits: {} });
  return { store, client: new BudgetClient({ store }), ...rest };
}

const settings = () => ({ agent: scriptedAgent(['Done.'], { repeat: true }) });

/** A server with a token in the budget `guest`, and a function that sends a prompt over it and waits for its run. */
async function setup(given: ServerBudgets) {
  const server = await rig({ settings, budgets: given });
  const made = await server.ask('POST', '/v1/tokens', {
    name: 'g',
    scopes: ['prompt', 'read'],
    budget: 'guest',
  });
  const asGuest = { authorization: `Bearer ${made.json['token']}` };
  const prompt = async (sessionId: string, headers: Record<string, string> = asGuest) => {
    await server.ask('POST', '/v1/sessions', { id: sessionId }, asGuest);
    const answer = await server.ask('POST', `/v1/sessions/${sessionId}/prompt`, { content: 'Go.' }, headers);
    await server.idle(sessionId);
    await given.client.flush();
    return answer;
  };
  const spent = async () => {
    const all = await given.store.balances(['company', 'guest', 'other']);
    return Object.fromEntries(all.map(({ definition, settled }) => [definition.name, settled.requests]));
  };
  return { ...server, made, asGuest, prompt, spent };
}

describe('the budget of a token', () => {
  test('counts its prompts, and refuses them with 429 when it is reached', async () => {
    const { made, prompt, spent, ask } = await setup(await budgets());
    expect(made.json).toMatchObject({ budget: 'guest' });
    expect((await ask('GET', '/v1/tokens')).text).toContain('"budget":"guest"');
    expect((await prompt('a')).status).toBe(202);
    expect(await spent()).toEqual({ company: 1, guest: 1, other: 0 });
    const { status, json, headers } = await prompt('b');
    expect(status).toBe(429);
    expect(json).toMatchObject({
      code: 'budget',
      budget: 'guest',
      until: expect.stringContaining('T00:00:00.000Z'),
    });
    expect(json['detail']).toMatch(/^The limit of budget "guest" is 1 request, /);
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(86_400);
    expect(await spent()).toEqual({ company: 1, guest: 1, other: 0 });
  });

  test('that is reached becomes a question, which only a token with the scope admin can answer with more', async () => {
    const given = await budgets();
    const server = await rig({ settings: () => ({ ...settings(), onReached: 'ask' }), budgets: given });
    const make = async (scopes: readonly string[], rest: object = {}) => {
      const made = await server.ask('POST', '/v1/tokens', { name: scopes.join(' '), scopes, ...rest });
      return { authorization: `Bearer ${made.json['token']}` };
    };
    const guest = await make(['prompt', 'read', 'approve'], { budget: 'guest' });
    await server.ask('POST', '/v1/sessions', { id: 's' }, guest);
    for (let prompt = 0; prompt < 2; prompt += 1) {
      const { status } = await server.ask('POST', '/v1/sessions/s/prompt', { content: 'Go.' }, guest);
      expect(status).toBe(202);
      await server.idle('s');
      await given.client.flush();
    }
    const { items } = (await server.ask('GET', '/v1/approvals')).json as {
      items: { approvalId: string; hash: string; limit: object }[];
    };
    const [asked] = items;
    expect(asked?.limit).toEqual({ amount: 'requests', max: 1, spent: 1, more: 1, budget: 'guest' });
    const path = `/v1/sessions/s/approvals/${asked?.approvalId}`;
    const allow = { decision: 'allow', hash: asked?.hash };
    const refused = await server.ask('POST', path, allow, guest);
    expect(refused).toMatchObject({ status: 403, json: { code: 'scope' } });
    expect(refused.json['detail']).toContain(
      'Only a token with the "admin" scope can raise the limit of budget "guest".',
    );
    expect((await server.ask('POST', path, { ...allow, more: -1 })).status).toBe(400);
    expect((await server.ask('POST', path, { ...allow, more: 2 })).status).toBe(202);
    await server.idle('s');
    await given.client.flush();
    expect((await server.ask('GET', '/v1/sessions/s')).json['status']).toBe('complete');
    expect(await given.store.balances(['guest'])).toMatchObject([
      { granted: { requests: 2 }, settled: { requests: 2 } },
    ]);
  });

  test('alerts in the log', async () => {
    const given = await budgets();
    await given.store.define({ name: 'company', limits: { requests: 2 }, alerts: [50] });
    const { prompt, log } = await setup(given);
    await prompt('a');
    const lines = log.filter((line) => line.includes('reached an alert threshold'));
    expect(lines.map((line) => JSON.parse(line))).toMatchObject([
      { level: 'warn', budget: 'company', share: 50, limit: 'requests', max: 2, settled: 1 },
    ]);
  });

  test('refuses a prompt when a budget above it is reached, without a time to retry', async () => {
    const given = await budgets();
    await given.store.define({ name: 'company', limits: { requests: 0 } });
    const { prompt } = await setup(given);
    const { status, json, headers } = await prompt('a');
    expect([status, json['code'], headers.get('retry-after')]).toEqual([429, 'budget', null]);
    expect(json['detail']).toContain('"company"');
  });

  test('does not limit the prompts of other tokens, in the same session too', async () => {
    const { prompt, spent, token } = await setup(await budgets());
    await prompt('a');
    expect((await prompt('a', { authorization: `Bearer ${token}` })).status).toBe(202);
    expect(await spent()).toEqual({ company: 1, guest: 1, other: 0 });
  });

  test('returns the first run for a repeated key, although the budget is reached', async () => {
    const { prompt, asGuest, spent } = await setup(await budgets());
    const headers = { ...asGuest, 'idempotency-key': 'once' };
    const first = await prompt('a', headers);
    const second = await prompt('a', headers);
    expect([second.status, second.json]).toEqual([202, first.json]);
    expect((await spent())['guest']).toBe(1);
  });

  test('applies to the routes of other protocols', async () => {
    const { ask, prompt, asGuest } = await setup(await budgets());
    await prompt('a');
    const answer = await ask('POST', '/openai/v1/responses', { model: 'cobbler', input: 'Go.' }, asGuest);
    expect([answer.status, answer.text]).toEqual([429, expect.stringContaining('budget \\"guest\\"')]);
    expect((await ask('POST', '/prompt', { content: 'Go.' }, asGuest)).status).toBe(429);
  });

  test('counts a run that another server continues after a crash', async () => {
    const given = await budgets();
    await given.store.define({ name: 'guest', parent: 'company', per: 'day', limits: { requests: 2 } });
    const first = await setup(given);
    await first.prompt('a');
    const [user] = await first.store.read('a');
    if (user === undefined) throw new Error('The log is empty.');
    const folder = mkdtempSync(join(tmpdir(), 'cobbler-budgets-'));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const crashed = sqliteStore(join(folder, 'server.db'));
    await crashed.append('a', [user], { epoch: await crashed.claim('a') });
    await crashed.close();
    const store = sqliteStore(join(folder, 'server.db'));
    onTestFinished(() => store.close());
    const second = await rig({ settings, store, budgets: given });
    await second.idle('a');
    await given.client.flush();
    expect((await second.ask('GET', '/v1/sessions/a')).json['status']).toBe('complete');
    expect(await first.spent()).toEqual({ company: 2, guest: 2, other: 0 });
  });
});

describe('a token', () => {
  test.each([
    ['nobody', 400, 'no_budget'],
    ['other', 400, 'budget_parent'],
    ['guest', 201, undefined],
    ['company', 201, undefined],
  ])('with budget %s is answered with %d if the server has budget company', async (budget, status, code) => {
    const { ask } = await rig({ settings, budgets: await budgets({ name: 'company' }) });
    const made = await ask('POST', '/v1/tokens', { name: 'g', scopes: ['prompt'], budget });
    expect([made.status, made.json['code']]).toEqual([status, code]);
  });

  test('cannot have a budget on a server without budgets', async () => {
    const { ask, tokens } = await rig({ settings });
    const made = await ask('POST', '/v1/tokens', { name: 'g', scopes: ['prompt'], budget: 'guest' });
    expect([made.status, made.json['code']]).toEqual([400, 'no_budgets']);
    // A token of an earlier server is not valid without its budget.
    const { token } = tokens.add({ name: 'g', scopes: ['prompt'], budget: 'guest' });
    const headers = { authorization: `Bearer ${token}` };
    await ask('POST', '/v1/sessions', { id: 'a' }, headers);
    const answer = await ask('POST', '/v1/sessions/a/prompt', { content: 'Go.' }, headers);
    expect([answer.status, answer.json['code']]).toEqual([503, 'no_budgets']);
  });
});

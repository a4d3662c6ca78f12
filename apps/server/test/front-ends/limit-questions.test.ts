import { openSession } from '@cobbler/agent';
import { BudgetClient, memoryBudgets } from '@cobbler/agent/budgets';
import { openRequests } from '@cobbler/agent/events';
import type { HarnessOptions } from '@cobbler/agent/harness';
import { scriptedAgent } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, test } from 'vitest';
import { MessageExchange } from '../../src/front-ends/message-exchange.ts';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';
import { Front } from './ag-ui-front.ts';
import { ChatPage } from './chat-page.ts';

/** Costs $0.03. */
const usage = { inputTokens: 10_000, outputTokens: 2_000 };

const ownQuestion =
  "This run's limit leaves too little for the next request: $0.03 of $0.04 spent. Continue with $0.04 more, or stop?";

/** A server with a session whose runs ask before their second request. */
async function limited(options: Partial<HarnessOptions>): Promise<Rig> {
  const settings = () => {
    const agent = scriptedAgent([
      { calls: [{ name: 'look', arguments: {} }], usage },
      { text: 'Done.', usage },
    ]);
    const pricing = () => ({ input: 1, output: 10 });
    return {
      ...harnessFixture(),
      agent,
      pricing,
      limits: { usd: 0.04 },
      onReached: 'ask' as const,
      ...options,
    };
  };
  const one = await rig({ settings });
  await one.ask('POST', '/v1/sessions', { id: 's' });
  return one;
}

/** A server whose guests share a budget of one request, and the token of a guest. */
async function shared(): Promise<{
  one: Rig;
  guest: Pick<Rig, 'server' | 'token'>;
  granted(): Promise<unknown>;
}> {
  const store = memoryBudgets();
  await store.define({ name: 'guests', limits: { requests: 1 } });
  const client = new BudgetClient({ store });
  const agent = scriptedAgent([{ calls: [{ name: 'look', arguments: {} }] }, 'Done.']);
  const settings = () => ({ ...harnessFixture(), agent, onReached: 'ask' as const });
  const one = await rig({ settings, budgets: { store, client } });
  const scopes = ['prompt', 'read', 'approve'];
  const made = await one.ask('POST', '/v1/tokens', { name: 'g', scopes, budget: 'guests' });
  const token = String(made.json['token']);
  await one.ask('POST', '/v1/sessions', { id: 's' }, { authorization: `Bearer ${token}` });
  return {
    one,
    guest: { server: one.server, token },
    granted: async () => (await store.balances(['guests']))[0]?.granted.requests,
  };
}

const onlyAdmins = 'Only a token with the \\"admin\\" scope can raise the limit of budget \\"guests\\".';

async function statusOf({ ask, idle }: Rig): Promise<unknown> {
  await idle('s');
  return (await ask('GET', '/v1/sessions/s')).json['status'];
}

describe.each([
  ['a run that ends as waiting', {}],
  ['a run that waits in memory', { attended: true }],
] as const)('a limit reached by %s', (_name, options) => {
  describe('in useChat', () => {
    test('is shown like a call, and the message continues after Allow', async () => {
      const one = await limited(options);
      const page = new ChatPage(one);
      await page.chat.sendMessage({ text: 'Go.' });
      await page.untilAsked(1);
      expect(page.tools).toEqual(['look output-available: seen', 'continue approval-requested']);
      const part = page.chat.lastMessage?.parts.at(-1);
      expect(part).toMatchObject({
        input: { amount: 'usd', max: 0.04, spent: 0.03, more: 0.04 },
        approval: { descriptor: { subject: ownQuestion } },
      });
      await page.decide(true);
      await page.untilSaid('Done.');
      expect(page.tools).toEqual([
        'look output-available: seen',
        'continue output-available: Continue with $0.04 more',
      ]);
      expect(page.requests).toEqual(['POST 200', 'POST 200']);
      expect(page.chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
      expect(page.errors).toEqual([]);
    });

    test('ends the run after Deny, and the page posts no more', async () => {
      const one = await limited(options);
      const page = new ChatPage(one);
      await page.chat.sendMessage({ text: 'Go.' });
      await page.untilAsked(1);
      await page.decide(false);
      await expect.poll(() => page.tools).toContain('continue output-denied');
      await expect.poll(() => page.chat.status).toBe('ready');
      expect(page.chat.lastMessage?.metadata).toMatchObject({ status: 'limit', limit: 'usd' });
      expect(page.requests).toEqual(['POST 200', 'POST 200']);
      expect(await statusOf(one)).toBe('limit');
    });

    test('is shown again on a page loaded while the run waits, and a repeated decision changes nothing', async () => {
      const one = await limited(options);
      const before = new ChatPage(one);
      await before.chat.sendMessage({ text: 'Go.' });
      await before.untilAsked(1);
      const after = new ChatPage(one, before.chat.messages.slice(0, 1));
      await after.chat.resumeStream();
      await after.untilAsked(1);
      expect(after.chat.messages.map(({ id }) => id)).toEqual(before.chat.messages.map(({ id }) => id));
      expect(after.tools).toEqual(before.tools);
      await after.decide(true);
      await after.untilSaid('Done.');
      const late = new ChatPage(one, before.chat.messages);
      await late.decide(true);
      await late.untilSaid('Done.');
      expect(late.tools).toEqual(after.tools);
      expect(after.requests).toEqual(['GET 200', 'POST 200']);
      expect([...after.errors, ...late.errors]).toEqual([]);
    });

    test('is shown again after the run was cancelled and resumed', async () => {
      const one = await limited(options);
      const page = new ChatPage(one);
      await page.chat.sendMessage({ text: 'Go.' });
      await page.untilAsked(1);
      await one.ask('POST', '/v1/sessions/s/cancel');
      await one.idle('s');
      expect((await one.ask('POST', '/v1/sessions/s/resume')).status).toBe(202);
      const after = new ChatPage(one, page.chat.messages.slice(0, 1));
      await after.chat.resumeStream();
      await after.untilAsked(1);
      await after.decide(true);
      await after.untilSaid('Done.');
      expect(after.tools.filter((tool) => tool.startsWith('continue output-available'))).toHaveLength(1);
      expect(after.errors).toEqual([]);
    });
  });

  describe('in an AG-UI client', () => {
    test('interrupts the run, which continues with the chosen amount after the user allows it', async () => {
      const one = await limited(options);
      const front = new Front(one);
      await front.say('Go.');
      expect(front.interrupts).toMatchObject([
        { reason: 'confirmation', message: ownQuestion, metadata: { limit: { amount: 'usd', more: 0.04 } } },
      ]);
      expect(front.interrupts[0]).not.toHaveProperty('toolCallId');
      await front.answer({ approved: true, more: 0.5 });
      expect(front.interrupts).toEqual([]);
      expect(front.agent.messages.at(-1)).toMatchObject({ role: 'assistant', content: 'Done.' });
      const decided = (await one.store.read('s')).filter(({ type }) => type === 'approval_decided');
      expect(decided).toMatchObject([{ decision: 'allow', more: 0.5 }]);
    });

    test('ends the run after a denial', async () => {
      const one = await limited(options);
      const front = new Front(one);
      await front.say('Go.');
      await front.answer({ approved: false });
      expect(front.events.at(-1)).toMatchObject({
        outcome: { type: 'success' },
        result: { status: 'limit' },
      });
      expect(await statusOf(one)).toBe('limit');
    });
  });
});

describe('a shared budget that is reached', () => {
  test('can be raised in useChat only with the scope admin, and a guest can still stop the run', async () => {
    const { one, guest, granted } = await shared();
    const page = new ChatPage(guest);
    await page.chat.sendMessage({ text: 'Go.' });
    await page.untilAsked(1);
    const messages = structuredClone(page.chat.messages);
    await page.decide(true);
    await expect.poll(() => page.chat.status).toBe('error');
    expect(page.errors).toEqual([expect.stringContaining(onlyAdmins)]);
    expect([await statusOf(one), await granted()]).toEqual(['waiting', 0]);
    const again = new ChatPage(guest, messages);
    await again.decide(false);
    await expect.poll(() => again.tools).toContain('continue output-denied');
    expect(await statusOf(one)).toBe('limit');
  });

  test('is raised in useChat by an admin', async () => {
    const { one, guest, granted } = await shared();
    const page = new ChatPage(guest);
    await page.chat.sendMessage({ text: 'Go.' });
    await page.untilAsked(1);
    const admin = new ChatPage(one, page.chat.messages);
    await admin.decide(true);
    await admin.untilSaid('Done.');
    expect([await statusOf(one), await granted()]).toEqual(['complete', 1]);
  });

  test('can be raised in an AG-UI client only with the scope admin, and a guest can still stop the run', async () => {
    const { one, guest, granted } = await shared();
    const front = new Front(guest);
    await front.say('Go.');
    const { interrupts } = front;
    await expect(front.answer({ approved: true })).rejects.toThrow(onlyAdmins);
    expect([await statusOf(one), await granted()]).toEqual(['waiting', 0]);
    await front.run({ resume: interrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' })) });
    expect(await statusOf(one)).toBe('limit');
  });

  test('rejects half a request, and the question stays open', async () => {
    const { one, guest, granted } = await shared();
    const front = new Front(guest);
    await front.say('Go.');
    const admin = new Front(one, front.agent.messages);
    const [{ id = '' } = {}] = front.interrupts;
    const payload = { approved: true, more: 0.5 };
    const resume = [{ interruptId: id, status: 'resolved' as const, payload }];
    await expect(admin.run({ resume })).rejects.toThrow('Use a whole number of requests above 0.');
    const [open] = openRequests(await openSession(one.store, 's'));
    const answer = { decision: 'allow', hash: open?.hash, more: 0.5 };
    const { status, json } = await one.ask('POST', `/v1/sessions/s/approvals/${open?.approvalId}`, answer);
    expect([status, json['code']]).toEqual([400, 'bad_decision']);
    expect([await statusOf(one), await granted()]).toEqual(['waiting', 0]);
  });

  test('is raised in an AG-UI client by an admin', async () => {
    const { one, guest, granted } = await shared();
    const front = new Front(guest);
    await front.say('Go.');
    const admin = new Front(one, front.agent.messages);
    const resume = front.interrupts.map(({ id }) => {
      return { interruptId: id, status: 'resolved' as const, payload: { approved: true } };
    });
    await admin.run({ resume });
    expect([await statusOf(one), await granted()]).toEqual(['complete', 1]);
  });
});

test('a question about a limit in an AG-UI client is replaced by a new prompt', async () => {
  const one = await limited({});
  const front = new Front(one);
  await front.say('Go.');
  expect(front.interrupts).toHaveLength(1);
  const late = new Front(one);
  await late.say('Go on.');
  expect(late.interrupts).toEqual([]);
  expect(late.agent.messages.at(-1)).toMatchObject({ content: 'Done.' });
});

test('a question about a limit is closed when its run is cancelled, and not asked in the next response', async () => {
  const write = { calls: [{ name: 'write', arguments: {} }], usage };
  const agent = scriptedAgent([{ calls: [{ name: 'look', arguments: {} }], usage }, write]);
  const one = await limited({ attended: true, agent });
  const front = new Front(one);
  await front.say('Go.');
  await one.ask('POST', '/v1/sessions/s/cancel');
  await one.idle('s');
  const exchange = new MessageExchange();
  const chunks = (await one.store.read('s')).flatMap((event) => exchange.handle(event));
  expect(chunks.slice(-3)).toMatchObject([
    { type: 'asked' },
    { type: 'decided', allows: false },
    { type: 'ended' },
  ]);
  expect(exchange.waits()).toEqual([]);
  const late = new Front(one);
  await late.say('Go on.');
  expect(late.interrupts).toMatchObject([{ reason: 'tool_call' }]);
});

import { openSession, textOf } from '@cobbler/agent';
import type { HarnessOptions } from '@cobbler/agent/harness';
import { scriptedAgent } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import type { UIMessage } from 'ai';
import { describe, expect, test } from 'vitest';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';
import { ChatPage } from './chat-page.ts';

const path = '/v1/sessions/s/chat';

async function page(options: Partial<HarnessOptions> = {}): Promise<{ one: Rig; page: ChatPage }> {
  const one = await rig({ settings: () => ({ ...harnessFixture(), ...options }) });
  await one.ask('POST', '/v1/sessions', { id: 's' });
  return { one, page: new ChatPage(one) };
}

/** Returns the tool name of each started call in the log. */
async function runsOf({ store }: Rig): Promise<string[]> {
  const events = await store.read('s');
  return events.flatMap((event) => (event.type === 'tool_started' ? [event.toolName] : []));
}

describe.each([
  ['a run that ends as waiting', {}],
  ['a run that waits in memory', { attended: true }],
] as const)('useChat with %s', (_name, options) => {
  test('continues after Allow if the response also has calls that need no approval', async () => {
    const { one, page: it } = await page(options);
    await it.chat.sendMessage({ text: 'use look write look' });
    await it.untilAsked(1);
    expect(it.tools).toEqual([
      'look approval-responded',
      'write approval-requested',
      'look approval-responded',
    ]);
    await it.decide(true);
    await it.untilSaid('seen, written, seen');
    expect(it.tools).toEqual([
      'look output-available: seen',
      'write output-available: written',
      'look output-available: seen',
    ]);
    expect(it.requests).toEqual(['POST 200', 'POST 200']);
    expect(it.chat.messages.map(({ role }) => role)).toEqual(['user', 'assistant']);
    expect(await runsOf(one)).toEqual(['look', 'write', 'look']);
    expect(it.errors).toEqual([]);
  });

  test('posts once after the last of several decisions', async () => {
    const { one, page: it } = await page(options);
    await it.chat.sendMessage({ text: 'use write look write' });
    await it.untilAsked(2);
    const [first, second] = it.asked;
    await it.chat.addToolApprovalResponse({ id: first?.id ?? '', approved: true });
    expect(it.requests).toEqual(['POST 200']);
    await it.chat.addToolApprovalResponse({
      id: second?.id ?? '',
      approved: false,
      reason: 'Once is enough.',
    });
    await it.untilSaid('written, seen, Once is enough.');
    expect(it.tools).toEqual([
      'write output-available: written',
      'look output-available: seen',
      'write output-denied',
    ]);
    expect(it.requests).toEqual(['POST 200', 'POST 200']);
    expect(await runsOf(one)).toEqual(['write', 'look']);
    expect(it.errors).toEqual([]);
  });

  test('continues after Deny, and the model sees the reason', async () => {
    const { one, page: it } = await page(options);
    await it.chat.sendMessage({ text: 'use write' });
    await it.untilAsked(1);
    await it.decide(false, 'Not today.');
    await it.untilSaid('Not today.');
    expect(it.tools).toEqual(['write output-denied']);
    expect(await runsOf(one)).toEqual([]);
    expect(it.requests).toEqual(['POST 200', 'POST 200']);
  });

  test('asks again in a later step of the same message', async () => {
    const calls = (...names: string[]) => ({ calls: names.map((name) => ({ name, arguments: {} })) });
    const agent = scriptedAgent([calls('look', 'write'), calls('write', 'look'), 'Both are written.']);
    const { one, page: it } = await page({ ...options, agent });
    await it.chat.sendMessage({ text: 'Write twice.' });
    await it.untilAsked(1);
    await it.decide(true);
    await it.untilAsked(1);
    await it.decide(true);
    await it.untilSaid('Both are written.');
    expect(it.requests).toEqual(['POST 200', 'POST 200', 'POST 200']);
    expect(it.chat.messages).toHaveLength(2);
    expect(await runsOf(one)).toEqual(['look', 'write', 'write', 'look']);
    expect(it.errors).toEqual([]);
  });

  test('shows the approval request again on a page loaded while the run waits', async () => {
    const { one, page: before } = await page(options);
    await before.chat.sendMessage({ text: 'use look write' });
    await before.untilAsked(1);
    const after = new ChatPage(one, before.chat.messages.slice(0, 1));
    await after.chat.resumeStream();
    await after.untilAsked(1);
    expect(after.chat.messages.map(({ id }) => id)).toEqual(before.chat.messages.map(({ id }) => id));
    expect(after.tools).toEqual(before.tools);
    await after.decide(true);
    await after.untilSaid('seen, written');
    expect(after.requests).toEqual(['GET 200', 'POST 200']);
    expect(after.errors).toEqual([]);
  });

  test('streams the same continuation to a page that repeats a decision', async () => {
    const { one, page: first } = await page(options);
    await first.chat.sendMessage({ text: 'use look write' });
    await first.untilAsked(1);
    const second = new ChatPage(one, first.chat.messages);
    const late = new ChatPage(one, first.chat.messages);
    await Promise.all([first.decide(true), second.decide(true)]);
    await Promise.all([first.untilSaid('seen, written'), second.untilSaid('seen, written')]);
    await one.idle('s');
    await late.decide(true);
    await late.untilSaid('seen, written');
    for (const it of [second, late]) {
      expect(it.tools).toEqual(first.tools);
      expect(it.requests).toEqual(['POST 200']);
      expect(it.errors).toEqual([]);
    }
    expect(await runsOf(one)).toEqual(['look', 'write']);
    const decided = (await one.store.read('s')).filter(({ type }) => type === 'approval_decided');
    expect(decided).toHaveLength(1);
  });

  test('reports an error and posts no more if its decision contradicts an earlier one', async () => {
    const { one, page: first } = await page(options);
    await first.chat.sendMessage({ text: 'use write' });
    await first.untilAsked(1);
    const second = new ChatPage(one, first.chat.messages);
    await first.decide(false);
    await first.untilSaid('A person denied this call.');
    await second.decide(true);
    await expect.poll(() => second.chat.status).toBe('error');
    expect(second.requests).toEqual(['POST 409']);
    expect(await runsOf(one)).toEqual([]);
  });

  test('becomes ready when the run is cancelled, with no pending call and no further post', async () => {
    const { one, page: it } = await page(options);
    await it.chat.sendMessage({ text: 'use look write hold' });
    await it.untilAsked(1);
    await it.decide(true);
    await expect.poll(() => runsOf(one)).toEqual(['look', 'write', 'hold']);
    await one.ask('POST', '/v1/sessions/s/cancel');
    await expect.poll(() => it.chat.status).toBe('ready');
    expect(it.tools).toEqual([
      'look output-available: seen',
      'write output-available: written',
      'hold output-error',
    ]);
    expect(it.requests).toEqual(['POST 200', 'POST 200']);
  });

  test('receives the rest on a page loaded while the allowed call runs, and posts nothing', async () => {
    const { one, page: before } = await page(options);
    await before.chat.sendMessage({ text: 'use look write hold' });
    await before.untilAsked(1);
    await before.decide(true);
    await expect.poll(() => runsOf(one)).toEqual(['look', 'write', 'hold']);
    const kept: UIMessage[] = structuredClone(before.chat.messages);
    const after = new ChatPage(one, kept);
    const reading = after.chat.resumeStream();
    await expect
      .poll(() => after.tools)
      .toEqual(['look output-available: seen', 'write output-available: written', 'hold input-available']);
    await one.ask('POST', '/v1/sessions/s/steer', { content: 'say Enough.' });
    await one.ask('POST', '/v1/sessions/s/cancel');
    await reading;
    expect(after.requests).toEqual(['GET 200']);
    expect(after.errors).toEqual([]);
  });
});

describe('useChat during a response', () => {
  test('shows the whole text on a new page, and keeps it when the run is stopped', async () => {
    const { one, page: first } = await page();
    void first.chat.sendMessage({ text: 'begin Once upon a time' });
    await expect.poll(() => first.text).toBe('Once upon a time');
    const late = new ChatPage(one, first.chat.messages.slice(0, 1));
    const reading = late.chat.resumeStream();
    await expect.poll(() => late.text).toBe('Once upon a time');
    await one.ask('POST', '/v1/sessions/s/cancel');
    await reading;
    await expect.poll(() => [first.chat.status, late.chat.status]).toEqual(['ready', 'ready']);
    expect([first.text, late.text]).toEqual(['Once upon a time', 'Once upon a time']);
    expect(late.chat.messages.map(({ id }) => id)).toEqual(first.chat.messages.map(({ id }) => id));
    await first.chat.sendMessage({ text: 'say On.' });
    await first.untilSaid('On.');
    const { messages } = await openSession(one.store, 's');
    expect(messages.map(textOf)).toContain('Once upon a time');
    expect([...first.errors, ...late.errors]).toEqual([]);
  });
});

describe('a response that cannot resolve a decision', () => {
  test('ends with an error, so that the client does not post again', async () => {
    const { one, page: it } = await page();
    await it.chat.sendMessage({ text: 'use write' });
    await it.untilAsked(1);
    // A process was killed right after it recorded the decision.
    const events = await one.store.read('s');
    const epoch = await one.store.claim('s');
    const { approvalId = '' } = Object(events.find(({ type }) => type === 'approval_requested'));
    const head = { v: 1, time: events[0]?.time ?? '', runId: 'cut' } as const;
    const seq = events.length + 1;
    const decision = { type: 'approval_decided', approvalId, decision: 'allow', waitedMs: 0 } as const;
    await one.store.append(
      's',
      [
        { ...head, seq, id: `s-${seq}`, type: 'resumed' },
        { ...head, seq: seq + 1, id: `s-${seq + 1}`, ...decision },
      ],
      { epoch, release: true },
    );
    await it.decide(true);
    await expect.poll(() => it.chat.status).toBe('error');
    expect(it.requests).toEqual(['POST 200', 'POST 200']);
    expect(it.errors.join()).toContain('cut off');
    expect(await runsOf(one)).toEqual([]);
  });

  test('ends with an error when its token is revoked', async () => {
    const { one } = await page();
    const { id, token } = one.tokens.add({ name: 'owner', scopes: ['read', 'prompt', 'approve'] });
    const it = new ChatPage({ server: one.server, token });
    await it.chat.sendMessage({ text: 'use write hold' });
    await it.untilAsked(1);
    await it.decide(true);
    await expect.poll(() => runsOf(one)).toEqual(['write', 'hold']);
    await one.ask('DELETE', `/v1/tokens/${id}`);
    await expect.poll(() => it.chat.status).toBe('error');
    expect(it.requests).toEqual(['POST 200', 'POST 200']);
  });

  test('rejects a request that has only automatic decisions for calls without approval', async () => {
    const { one, page: it } = await page();
    await it.chat.sendMessage({ text: 'use look write' });
    await it.untilAsked(1);
    const parts = it.chat.lastMessage?.parts.filter(
      (part) => 'state' in part && part.state !== 'approval-requested',
    );
    const answer = await one.ask('POST', path, { messages: [{ id: 'x', role: 'assistant', parts }] });
    expect(answer.status).toBe(400);
    const { calls } = await openSession(one.store, 's');
    expect(calls.map(({ approval }) => approval?.decision)).toEqual([undefined, undefined]);
  });
});

import { systemRuntime } from '@cobbler/agent';
import { scriptedAgent } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, test } from 'vitest';
import { AgUiStream } from '../../src/front-ends/ag-ui-stream.ts';
import type { Rig } from '../support/rig.ts';
import { rig } from '../support/rig.ts';
import { agUiMessages } from './ag-ui-fold.ts';
import { Front } from './ag-ui-front.ts';

const path = '/v1/ag-ui';

/** Asserts that the client's messages equal the log: id, role, text, calls, results and order. */
async function holdsTheLog(front: Front, { store }: Rig): Promise<void> {
  expect(front.agent.messages).toEqual(await agUiMessages(store, 's', front.said));
}

describe('an AG-UI client', () => {
  test('streams text and reasoning in the session named by its thread', async () => {
    const one = await rig();
    const front = new Front(one);
    await front.say('think Hello there you.');
    expect(front.types.filter((type, place) => type !== front.types[place - 1])).toEqual([
      'RUN_STARTED',
      'REASONING_START',
      'REASONING_MESSAGE_START',
      'REASONING_MESSAGE_CONTENT',
      'REASONING_MESSAGE_END',
      'REASONING_END',
      'TEXT_MESSAGE_START',
      'TEXT_MESSAGE_CONTENT',
      'TEXT_MESSAGE_END',
      'RUN_FINISHED',
    ]);
    expect(front.types.filter((type) => type === 'TEXT_MESSAGE_CONTENT').length).toBeGreaterThan(1);
    await front.say('say On.');
    await holdsTheLog(front, one);
    expect(front.events.at(-1)).toMatchObject({
      outcome: { type: 'success' },
      result: { status: 'complete' },
    });
  });

  test('receives calls, results, failures and calls that were not run', async () => {
    const one = await rig();
    const front = new Front(one);
    await front.say('use look look');
    await front.say('use break look', 'run-2');
    await holdsTheLog(front, one);
    const late = new Front(one);
    await late.run({ runId: 'run-2' });
    await holdsTheLog(late, one);
    expect(JSON.stringify(front.agent.messages)).toContain('"This call was not run."');
  });

  test('receives each response that has only tool calls as a separate message', async () => {
    const call = { calls: [{ name: 'look', arguments: { of: 'look' } }] };
    const agent = scriptedAgent([
      { text: 'I will look.', ...call },
      call,
      { ...call, reasoning: 'Once more.' },
      'Done.',
    ]);
    const one = await rig({ settings: () => ({ ...harnessFixture(), agent }) });
    const front = new Front(one);
    await front.say('Look.', 'run-1');
    await holdsTheLog(front, one);
    expect(front.agent.messages.filter(({ role }) => role === 'assistant')).toHaveLength(4);
    const late = new Front(one);
    await late.run({ runId: 'run-1' });
    await holdsTheLog(late, one);
  });

  test('is interrupted by an approval request and continues after the user allows the call', async () => {
    const one = await rig();
    const front = new Front(one);
    await front.say('use look write');
    expect(front.interrupts).toHaveLength(1);
    expect(front.interrupts[0]).toMatchObject({ reason: 'tool_call', metadata: { toolName: 'write' } });
    await holdsTheLog(front, one);
    await front.answer({ approved: true });
    expect(front.interrupts).toEqual([]);
    await holdsTheLog(front, one);
    expect(JSON.stringify(front.agent.messages)).toContain('written');
  });

  test('continues a run that waits in memory; repeating the decision changes nothing', async () => {
    const one = await rig({ settings: () => ({ ...harnessFixture(), attended: true }) });
    const front = new Front(one);
    await front.say('use look write');
    const { interrupts } = front;
    expect(interrupts).toHaveLength(1);
    await front.answer({ approved: true });
    await holdsTheLog(front, one);
    const resume = interrupts.map(({ id }) => ({
      interruptId: id,
      status: 'resolved' as const,
      payload: { approved: true },
    }));
    await front.run({ resume });
    await holdsTheLog(front, one);
    expect((await one.store.read('s')).filter(({ type }) => type === 'approval_decided')).toHaveLength(1);
  });

  test('is asked only about undecided calls when the run waits again', () => {
    const stream = new AgUiStream({ threadId: 's', runId: 'r' });
    const asked = (approvalId: string, index: number) =>
      stream.handle({
        type: 'asked',
        id: `call-${index}`,
        request: {
          type: 'approval_requested',
          ...{ approvalId, turn: 1, index, callId: `c${index}`, toolName: 'write', arguments: {}, hash: 'h' },
        },
      });
    asked('first', 0);
    asked('second', 1);
    stream.handle({ type: 'decided', id: 'call-0', approvalId: 'first', allows: true });
    stream.handle({ type: 'waits', automaticCalls: [] });
    expect(stream.last()).toMatchObject([{ outcome: { interrupts: [{ id: 'second.h' }] } }]);
  });

  test('continues after a denial with a message or a cancelled interrupt', async () => {
    const one = await rig();
    const front = new Front(one);
    await front.say('use write');
    await front.answer({ approved: false, message: 'Not today.' });
    await holdsTheLog(front, one);
    expect(JSON.stringify(front.agent.messages)).toContain('Not today.');
    await front.say('use write');
    await front.run({ resume: front.interrupts.map(({ id }) => ({ interruptId: id, status: 'cancelled' })) });
    await holdsTheLog(front, one);
    expect((await one.store.read('s')).filter(({ type }) => type === 'tool_started')).toEqual([]);
  });

  test('cannot allow other arguments than it was shown, or decide without the scope', async () => {
    const one = await rig();
    const front = new Front(one);
    await front.say('use write');
    const [interrupt] = front.interrupts;
    const body = (interruptId = '') => ({
      threadId: 's',
      runId: 'r',
      messages: [],
      resume: [{ interruptId, status: 'resolved', payload: { approved: true } }],
    });
    const other = await one.ask('POST', path, body(`${interrupt?.id.split('.')[0]}.${'0'.repeat(64)}`));
    expect(other).toMatchObject({ status: 409, json: { code: 'other_arguments' } });
    const { token } = one.tokens.add({ name: 'owner', scopes: ['read', 'prompt'] });
    const half = await one.ask('POST', path, body(interrupt?.id), { authorization: `Bearer ${token}` });
    expect(half).toMatchObject({ status: 403, json: { code: 'scope' } });
    expect((await one.store.read('s')).filter(({ type }) => type === 'tool_started')).toEqual([]);
  });

  test('creates no session with a decision', async () => {
    const one = await rig();
    const resume = [{ interruptId: 'a.b', status: 'cancelled' }];
    const answer = await one.ask('POST', path, { threadId: 'other', runId: 'r', messages: [], resume });
    expect(answer).toMatchObject({ status: 404, json: { code: 'no_session' } });
    expect((await one.ask('GET', '/v1/sessions/other')).status).toBe(404);
  });

  test('is not asked again about a call of a run that was cancelled', async () => {
    const one = await rig({ settings: () => ({ ...harnessFixture(), attended: true }) });
    const front = new Front(one);
    await front.say('use write');
    await one.ask('POST', '/v1/sessions/s/cancel');
    await one.idle('s');
    const late = new Front(one);
    await late.say('use write');
    const asked = (await one.store.read('s')).filter((event) => event.type === 'approval_requested');
    expect(asked).toHaveLength(2);
    expect(late.interrupts.map(({ id }) => id)).toEqual([`${asked[1]?.approvalId}.${asked[1]?.hash}`]);
  });

  test('receives the cancellation of the run', async () => {
    const one = await rig();
    const front = new Front(one);
    const saying = front.say('use hold');
    await expect
      .poll(async () => (await one.store.read('s')).some(({ type }) => type === 'tool_started'))
      .toBe(true);
    await one.ask('POST', '/v1/sessions/s/cancel');
    await saying;
    expect(front.events.at(-1)).toMatchObject({ type: 'RUN_FINISHED', outcome: { type: 'cancelled' } });
    await holdsTheLog(front, one);
  });

  test.each([
    ['use look hold', 2],
    ['use hold look', 1],
  ])('receives steering messages at their position in the conversation: %s', async (words, begun) => {
    const one = await rig();
    const front = new Front(one);
    const saying = front.say(words, 'run-1');
    await expect
      .poll(async () => (await one.store.read('s')).filter(({ type }) => type === 'tool_started').length)
      .toBe(begun);
    await one.ask('POST', '/v1/sessions/s/steer', { content: 'say Enough.' });
    await one.ask('POST', '/v1/sessions/s/cancel');
    await saying;
    expect(JSON.stringify(front.agent.messages)).toContain('say Enough.');
    await holdsTheLog(front, one);
    const late = new Front(one);
    await late.run({ runId: 'run-1' });
    await holdsTheLog(late, one);
  });

  test('can disconnect without stopping the run and reconnect by run id', async () => {
    const one = await rig();
    const front = new Front(one);
    const saying = front.say('use look hold', 'run-1');
    const holds = async () =>
      (await one.store.read('s')).filter(({ type }) => type === 'tool_started').length;
    await expect.poll(holds).toBe(2);
    front.agent.abortRun();
    await saying;
    const again = new Front(one, [...front.agent.messages]);
    const reading = again.run({ runId: 'run-1' });
    await expect.poll(() => again.types.includes('MESSAGES_SNAPSHOT')).toBe(true);
    await one.ask('POST', '/v1/sessions/s/cancel');
    await reading;
    await holdsTheLog(again, one);
    const late = new Front(one, [{ id: 'u0', role: 'user', content: 'use look hold' }]);
    await late.run({ runId: 'run-1' });
    expect(late.types).toEqual(['RUN_STARTED', 'MESSAGES_SNAPSHOT', 'MESSAGES_SNAPSHOT', 'RUN_FINISHED']);
    await holdsTheLog(late, one);
    expect((await one.store.read('s')).filter(({ type }) => type === 'user')).toHaveLength(1);
  });

  test('receives the whole text during a response, and keeps it when the run is stopped', async () => {
    const one = await rig();
    const front = new Front(one);
    const textIn = ({ agent }: Front) => agent.messages.map(({ content }) => String(content));
    const saying = front.say('begin Once upon a time', 'run-1');
    await expect.poll(() => textIn(front)).toContain('Once upon a time');
    front.agent.abortRun();
    await saying;
    const again = new Front(one, [...front.agent.messages]);
    const fresh = new Front(one);
    const reading = [again, fresh].map((late) => late.run({ runId: 'run-1' }));
    await expect
      .poll(() => [again, fresh].every((late) => late.types.includes('TEXT_MESSAGE_CONTENT')))
      .toBe(true);
    await one.ask('POST', '/v1/sessions/s/cancel');
    await Promise.all(reading);
    for (const late of [again, fresh]) {
      expect(textIn(late)).toEqual(['begin Once upon a time', 'Once upon a time']);
      await holdsTheLog(late, one);
    }
  });

  test('receives an error, and a retry removes the text streamed before', async () => {
    const failing = {
      text: 'Half of an ans',
      error: { kind: 'network', message: 'cut', retryable: true },
    } as const;
    const first = { reasoning: 'Let me think.', text: 'First.' };
    const refused = { error: { kind: 'auth', message: 'Refused.' } } as const;
    const agent = scriptedAgent([first, failing, 'The whole answer.', refused], {
      runtime: systemRuntime,
      retry: { baseMs: 1, maxMs: 1 },
    });
    const one = await rig({ settings: () => ({ ...harnessFixture(), agent }) });
    const front = new Front(one);
    await front.say('Begin.');
    await front.say('say It.');
    expect(front.types).toContain('MESSAGES_SNAPSHOT');
    await holdsTheLog(front, one);
    await front.say('Again.');
    expect(front.events.at(-1)).toMatchObject({
      type: 'RUN_ERROR',
      message: expect.stringContaining('Refused.'),
    });
    await holdsTheLog(front, one);
  });

  test('gets errors for invalid requests, which create no session', async () => {
    const one = await rig();
    const ask = (more: object) => one.ask('POST', path, { threadId: 's', runId: 'r', messages: [], ...more });
    expect((await ask({})).status).toBe(404);
    expect((await ask({ threadId: '../s' })).status).toBe(400);
    expect((await ask({ messages: [{ id: 'a', role: 'assistant', content: 'Hello.' }] })).status).toBe(404);
    expect((await ask({ messages: [{ id: 'u', role: 'user', content: ' ' }] })).status).toBe(400);
    expect((await one.ask('GET', '/v1/sessions')).json['items']).toEqual([]);
    await one.ask('POST', '/v1/sessions', { id: 's' });
    expect((await ask({})).status).toBe(400);
    const { token } = one.tokens.add({ name: 'reads', scopes: ['read'] });
    const body = { threadId: 's', runId: 'r', messages: [{ id: 'u', role: 'user', content: 'say Hello.' }] };
    expect((await one.ask('POST', path, body, { authorization: `Bearer ${token}` })).status).toBe(403);
  });
});

import type { Event, Message } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import type { CallItem, ConversationItems, EventBody } from '@cobbler/agent/events';
import {
  callStatus,
  emptyItems,
  emptyState,
  fold,
  foldItems,
  itemsOf,
  pendingCalls,
} from '@cobbler/agent/events';
import { createHarness } from '@cobbler/agent/harness';
import { seededRandom } from '@cobbler/agent/testing';
import { harnessFixture } from '@cobbler/conformance';
import { describe, expect, test } from 'vitest';
import {
  answered,
  asked,
  call,
  decided,
  ended,
  gave,
  log,
  messagesOf,
  randomStory,
  said,
  started,
  text,
} from './story.ts';

function folded(events: readonly Event[]): Message[] {
  const state = emptyState();
  for (const event of events) fold(state, event);
  return state.messages;
}

function callsIn(view: ConversationItems): readonly CallItem[] {
  return view.items.flatMap((item) => (item.kind === 'response' ? item.calls : []));
}

const kinds = (view: ConversationItems) =>
  view.items.map((item) => (item.kind === 'note' ? item.what.type : item.kind));

test('a question about a limit is pending like a call, and replaces the failure that it is about', () => {
  const limit = { amount: 'usd', max: 1, spent: 1, more: 1 } as const;
  const call = { turn: 0, index: 1000, callId: 'q', toolName: 'continue', arguments: limit, hash: 'h' };
  const error = { kind: 'limit', code: 'usd', message: 'The limit.' } as const;
  const events = log(
    { type: 'user', content: [{ type: 'text', text: 'Go.' }] },
    { type: 'ask_failed', error, durationMs: 1 },
    { type: 'approval_requested', approvalId: 'q', ...call, limit },
  );
  const view = itemsOf(events);
  expect(pendingCalls(view).map(({ approval }) => approval?.limit)).toEqual([limit]);
  expect(kinds(view)).toEqual(['user']);
});

describe('the items of the page', () => {
  const prompts = [
    'say Hello.',
    'think A long answer.',
    'use look look',
    'use break look',
    'use look break',
    'fail',
    'cut',
    'refuse',
  ];

  test('represent the messages of the harness after every run', async () => {
    const store = memoryStore();
    const harness = createHarness({ ...harnessFixture(), store, sessionId: 's' });
    for (const prompt of prompts) {
      const { messages } = await harness.prompt(prompt).result;
      const view = itemsOf(await store.read('s'));
      expect(messagesOf(view)).toEqual(messages);
    }
    expect(itemsOf(await store.read('s')).items.length).toBeGreaterThan(prompts.length * 2);
  });

  test('keep a stopped response, and do not attribute the note after it to the user', async () => {
    const store = memoryStore();
    const harness = createHarness({ ...harnessFixture(), store, sessionId: 's' });
    const run = harness.prompt('begin Once upon a time');
    for await (const event of run) if (event.type === 'text' || event.type === 'text_delta') break;
    harness.steer('say Never mind.');
    harness.cancel();
    const { messages } = await run.result;
    const view = itemsOf(await store.read('s'));
    expect(messagesOf(view)).toEqual(messages);
    expect(kinds(view)).toEqual(['user', 'stop', 'response', 'failed', 'user', 'finished']);
    const answer = view.items.find(({ kind }) => kind === 'response');
    expect(answer?.kind === 'response' && answer.cutNote?.role).toBe('user');
  });

  test('represent the messages after an approval, a cancel and a steering message', async () => {
    const store = memoryStore();
    const harness = createHarness({ ...harnessFixture(), store, sessionId: 's' });
    const waited = await harness.prompt('use write look').result;
    expect(waited.status).toBe('waiting');
    const view = itemsOf(await store.read('s'));
    const [pending] = pendingCalls(view);
    expect(pending?.part.toolName).toBe('write');
    const approvalId = pending?.approval?.approvalId ?? '';
    const allowed = await harness.resume({ answers: [{ approvalId, decision: 'allow' }] }).result;
    expect(messagesOf(itemsOf(await store.read('s')))).toEqual(allowed.messages);
    const run = harness.prompt('use hold');
    for await (const event of run) {
      if (event.type !== 'tool_started') continue;
      harness.steer('say Never mind.');
      harness.cancel();
    }
    const { messages } = await run.result;
    expect(messagesOf(itemsOf(await store.read('s')))).toEqual(messages);
  });

  test('represent the messages of the fold for any log, valid or not', () => {
    for (let seed = 1; seed <= 400; seed += 1) {
      const events = randomStory(seededRandom(seed), 30);
      const view = emptyItems();
      for (const [at, event] of events.entries()) {
        foldItems(view, event);
        expect([seed, at, messagesOf(view)]).toEqual([seed, at, folded(events.slice(0, at + 1))]);
      }
    }
  });

  test('do not change if an event is repeated', () => {
    const events = randomStory(seededRandom(5), 60);
    const once = itemsOf(events);
    const twice = emptyItems();
    for (const at of events.keys())
      for (const seen of events.slice(Math.max(0, at - 3), at + 1)) foldItems(twice, seen);
    expect(twice).toEqual(once);
  });

  test('stay the same objects if they do not change, so that they are not rendered again', () => {
    const events = log(
      said('go'),
      answered(text('one'), call('a'), call('b')),
      started(1, 0),
      gave(1, 0),
      gave(1, 1),
    );
    const view = itemsOf(events.slice(0, 3));
    const before = [...view.items];
    for (const event of events.slice(3, 4)) foldItems(view, event);
    expect(view.items[0]).toBe(before[0]);
    expect(view.items[1]).not.toBe(before[1]);
    expect(callsIn(view)[1]).toBe(before[1]?.kind === 'response' ? before[1].calls[1] : undefined);
  });
});

describe('the status of a call', () => {
  const batch = answered(text('Working.'), call('a'), call('b'));
  const phases = (...bodies: readonly EventBody[]) =>
    callsIn(itemsOf(log(said('go'), batch, ...bodies))).map(callStatus);

  test('is proposed, running or done, as soon as it is known', () => {
    expect(phases()).toEqual(['proposed', 'proposed']);
    expect(phases(started(1, 0))).toEqual(['running', 'proposed']);
    expect(phases(started(1, 0), gave(1, 0))).toEqual(['done', 'proposed']);
  });

  test('is failed after a tool error, and after a command with a nonzero exit code', () => {
    expect(phases(gave(1, 0, { isError: true }), gave(1, 1, { summary: 'exit 1' }))).toEqual([
      'failed',
      'failed',
    ]);
    expect(phases(gave(1, 0, { summary: 'exit 0' }))[0]).toBe('done');
  });

  test('is asked until the decision, and denied after a denial', () => {
    expect(phases(asked(1, 0))).toEqual(['asked', 'proposed']);
    expect(phases(asked(1, 0), decided('a1.0', 'allow'), started(1, 0))[0]).toBe('running');
    expect(
      phases(
        asked(1, 0),
        decided('a1.0', 'deny'),
        gave(1, 0, { isError: true, notRun: true, denied: true }),
      )[0],
    ).toBe('denied');
  });

  test('is not_run if it never started, and unknown if a crash interrupted it', () => {
    expect(phases(started(1, 0), ended('cancelled'))).toEqual(['unknown', 'not_run']);
    expect(phases(started(1, 0), { type: 'resumed' })).toEqual(['unknown', 'proposed']);
    expect(phases(started(1, 0), { type: 'resumed' }, started(1, 0))[0]).toBe('running');
  });
});

describe('the view of a conversation', () => {
  test('queues a steering message, then shows it where the model received it', () => {
    const events = log(
      said('go'),
      answered(call('a')),
      said('Only unit tests.', true),
      gave(1, 0),
      answered(text('Yes.')),
    );
    const waiting = itemsOf(events.slice(0, 3));
    expect([kinds(waiting), waiting.queued.map(({ seq }) => seq)]).toEqual([['user', 'response'], [3]]);
    const heard = itemsOf(events);
    expect([kinds(heard), heard.queued]).toEqual([['user', 'response', 'user', 'response'], []]);
    expect(heard.items[2]).toMatchObject({ kind: 'user', seq: 3, steer: true });
  });

  test('shows a failure once, at the end of its run', () => {
    const error = { kind: 'auth', message: 'refused' } as const;
    const failed = { type: 'ask_failed', error, durationMs: 1 } as const;
    expect(kinds(itemsOf(log(said('go'), failed, { ...ended('failed'), error } as never)))).toEqual([
      'user',
      'finished',
    ]);
    expect(kinds(itemsOf(log(said('go'), failed)))).toEqual(['user', 'failed']);
  });

  test('shows an imported conversation with its calls and their results', () => {
    const messages: Message[] = [
      { role: 'user', content: [{ type: 'text', text: 'before' }] },
      { role: 'assistant', content: [call('x')] },
      { role: 'tool_result', toolCallId: 'x', content: [{ type: 'text', text: 'seen' }] },
    ];
    const view = itemsOf(log({ type: 'history', messages }, said('now'), answered(text('ok'))));
    expect(kinds(view)).toEqual(['user', 'response', 'user', 'response']);
    expect(callsIn(view).map(callStatus)).toEqual(['done']);
    expect(view.items[0]).toMatchObject({ steer: false });
  });

  test('has an active run from its first event to its end', () => {
    const events = log(said('go'), answered(text('ok')), ended('complete'));
    expect(itemsOf(events.slice(0, 2)).runStartedAt).toBe(events[0]?.time);
    expect(itemsOf(events).runStartedAt).toBeUndefined();
  });
});

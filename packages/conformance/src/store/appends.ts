import type { Event } from '@cobbler/agent';
import type { EventBody } from '@cobbler/agent/events';
import {
  answered,
  ended,
  eventsOf,
  expect,
  expectEqual,
  said,
  seededRandom,
  wholeRun,
  worked,
  write,
} from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group } from './case.ts';
import { expectRefused } from './refusal.ts';

const the = group('append');

/** Texts that are hard to store. */
const oddTexts = [
  'ascii',
  'Grüße, 世界, 🇪🇺 👩‍👩‍👧‍👦',
  'a\u0000b\u0001\u001b[31m\u007f\u0085\u2028\u2029',
  "'; DROP TABLE events; --",
  '"\\"\'`$ {x}%s?1',
  '\ud800 half \udc00',
  '\u202egnp.exe',
  '\n\r\n\t',
];

export const appendCases: readonly StoreCase[] = [
  the('appended events are stored completely and in order', async ({ store }) => {
    const events = eventsOf('one', wholeRun('Hello.', 5));
    const epoch = await store.claim('one');
    await store.append('one', events.slice(0, 3), { epoch });
    await store.append('one', events.slice(3, 4), { epoch, durable: true });
    await store.append('one', events.slice(4), { epoch });
    expectEqual(await store.read('one'), events, 'the events');
    expectEqual(await store.sessions(), ['one'], 'the sessions');
  }),
  the('events out of sequence are all rejected, and nothing is written', async ({ store }) => {
    const events = eventsOf('one', [said('a'), answered('b'), said('c'), answered('d')]);
    const epoch = await store.claim('one');
    await store.append('one', events.slice(0, 2), { epoch });
    const wrong: Event[][] = [
      events.slice(3),
      events.slice(1, 3),
      events.slice(0, 2),
      [...events.slice(2, 3), ...events.slice(2)],
      [...events.slice(2), ...eventsOf('one', [said('f')], 5)],
      eventsOf('one', [said('x')], -1),
    ];
    for (const batch of wrong) {
      const places = batch.map(({ seq }) => seq).join(', ');
      await expectRefused(() => store.append('one', batch, { epoch }), 'gap', `events ${places}`);
      expectEqual(await store.read('one'), events.slice(0, 2), `the events after ${places} were rejected`);
    }
    await store.append('one', events.slice(2), { epoch });
    expectEqual(await store.read('one'), events, 'the events at the end');
  }),
  the('an empty append is accepted and changes nothing', async ({ store }) => {
    const epoch = await store.claim('one');
    await store.append('one', [], { epoch });
    expectEqual(await store.sessions(), [], 'the sessions');
    await store.append('one', eventsOf('one', [said('a')]), { epoch });
    await store.append('one', [], { epoch });
    expectEqual((await store.read('one')).length, 1, 'the number of events');
  }),
  the('concurrent appends are stored in the order of the calls', async ({ store }) => {
    const events = eventsOf('one', wholeRun('Go.', 40));
    const epoch = await store.claim('one');
    await Promise.all(events.map((event) => store.append('one', [event], { epoch })));
    expectEqual(await store.read('one'), events, 'the events');
  }),
  the('of two appends for the same sequence number one is accepted', async ({ store }) => {
    const epoch = await store.claim('one');
    const [first, second] = [eventsOf('one', [said('a')]), eventsOf('one', [said('b')])];
    const outcomes = await Promise.allSettled(
      [first, second].map(async (events) => await store.append('one', events, { epoch })),
    );
    expectEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected'],
      'the outcomes of the appends',
    );
    expectEqual(await store.read('one'), first, 'the events');
  }),
  the('a rejected append does not affect concurrent ones', async ({ store }) => {
    const ids = ['a', 'b', 'c', 'd'];
    // One after another, because claims made at the same time have no order.
    const epochs: number[] = [];
    for (const id of ids) epochs.push(await store.claim(id));
    const outcomes = await Promise.allSettled(
      ids.map(async (id, index) => {
        const events = eventsOf(id, [said(id)], id === 'b' ? 7 : 0);
        await store.append(id, events, { epoch: id === 'c' ? -1 : (epochs[index] ?? 0) });
      }),
    );
    expectEqual(
      outcomes.map(({ status }) => status),
      ['fulfilled', 'rejected', 'rejected', 'fulfilled'],
      'the outcome of each append',
    );
    expectEqual(await store.sessions(), ['a', 'd'], 'the sessions');
  }),
  the('concurrent appends of many sessions each reach their own session', async ({ store }) => {
    const random = seededRandom(7);
    const logs = Array.from({ length: 50 }, (_, index) => ({
      id: `session-${index}`,
      events: eventsOf(`session-${index}`, wholeRun(`Prompt ${index}.`, random.between(0, 12))),
    }));
    await Promise.all(
      logs.map(async ({ id, events }) => {
        const epoch = await store.claim(id);
        for (let at = 0; at < events.length; ) {
          const count = random.between(1, 4);
          await store.append(id, events.slice(at, at + count), { epoch, durable: random.chance(0.3) });
          at += count;
        }
      }),
    );
    for (const { id, events } of logs) expectEqual(await store.read(id), events, `the events of ${id}`);
  }),
  the('every character and every JSON value is read back unchanged', async ({ store }) => {
    const odd: EventBody[] = oddTexts.flatMap((text, index) => [
      said(text),
      { type: 'tool_started', turn: 1, index, callId: text, toolName: text, arguments: oddArguments(text) },
    ]);
    const events = eventsOf('one', odd);
    const epoch = await store.claim('one');
    await store.append('one', events, { epoch });
    expectEqual(JSON.stringify(await store.read('one')), JSON.stringify(events), 'the events as JSON text');
  }),
  the('an event can be large', async ({ store }) => {
    const events = eventsOf('one', [said('x'.repeat(12_000_000)), answered('ü'.repeat(1_000_000)), ended()]);
    const epoch = await store.claim('one');
    await store.append('one', events, { epoch });
    expectEqual(await store.read('one'), events, 'the events');
  }),
  the('part of a session can be read', async ({ store }) => {
    const events = eventsOf('one', wholeRun('Go.', 150));
    const epoch = await store.claim('one');
    for (let at = 0; at < events.length; at += 7)
      await store.append('one', events.slice(at, at + 7), { epoch });
    for (const after of [
      0,
      1,
      63,
      64,
      65,
      127,
      128,
      200,
      events.length - 1,
      events.length,
      events.length + 9,
    ]) {
      for (const limit of [1, 10, 100, 1000]) {
        const what = `${limit} events after ${after}`;
        expectEqual(await store.read('one', after, limit), events.slice(after, after + limit), what);
      }
      expectEqual(await store.read('one', after), events.slice(after), `all events after ${after}`);
    }
    expectEqual(await store.read('two'), [], 'the events of an unknown session');
  }),
  the('changing the events read does not change the store', async ({ store }) => {
    await write(store, 'one', wholeRun());
    const events = (await store.read('one')) as Event[];
    events.length = 0;
    expect((await store.read('one')).length > 0, 'the events to remain in the store');
  }),
  the('a resumed session continues at its last sequence number', async ({ store }) => {
    await write(store, 'one', wholeRun('First.'));
    const before = await store.read('one');
    await write(store, 'one', [...wholeRun('Second.', 3, 2), ...worked(7)]);
    const all = await store.read('one');
    expectEqual(all.slice(0, before.length), before, 'the first run');
    expectEqual(
      all.map(({ seq }) => seq),
      all.map((_, index) => index + 1),
      'the sequence numbers',
    );
  }),
];

function oddArguments(text: string): Record<string, unknown> {
  const own = JSON.parse('{"__proto__": 1, "constructor": [null], "2": "b", "1": "a", "": {}}');
  return { ...own, [text]: [0, -0.5, 1e300, 9007199254740991, true, null, '', text, { deep: [[[[text]]]] }] };
}

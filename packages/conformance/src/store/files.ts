import type { SessionStore } from '@cobbler/agent';
import { exportSession, importSession } from '@cobbler/agent/format';
import { answered, ended, expect, expectEqual, said, wholeRun, worked, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { group } from './case.ts';
import { expectRefused } from './refusal.ts';

const the = group('files');

async function exported(store: SessionStore, sessionId: string): Promise<string[]> {
  const lines: string[] = [];
  for await (const line of exportSession(store, sessionId)) lines.push(line);
  return lines;
}

export const fileCases: readonly StoreCase[] = [
  the('a session is exported as its events, one per line', async ({ store }) => {
    await write(store, 'one', wholeRun('Grüße\n\u2028🙂', 400));
    const lines = await exported(store, 'one');
    const events = await store.read('one');
    expectEqual(
      lines,
      events.map((event) => `${JSON.stringify(event)}\n`),
      'the lines',
    );
    expect(
      lines.every((line) => line.indexOf('\n') === line.length - 1),
      'one newline in each line, at its end',
    );
    await expectRefused(() => exported(store, 'two'), 'no_session', 'the export of an unknown session');
  }),
  the('an exported session can be imported, identical except for its ids', async ({ store }) => {
    await write(store, 'one', [...wholeRun('First.', 3)]);
    await write(store, 'one', [...wholeRun('Second.', 200, 4)]);
    const lines = await exported(store, 'one');
    const { events } = await importSession(store, lines, 'copy');
    expectEqual(events, lines.length, 'the number of events');
    const renamed = (await exported(store, 'copy')).map((line) => line.replace(/"id":"copy-/, '"id":"one-'));
    expectEqual(renamed, lines, 'the lines');
    const [one, copy] = [await store.info('one'), await store.info('copy')];
    const plain = { id: '', createdAt: '', updatedAt: '' };
    expectEqual({ ...copy, ...plain }, { ...one, ...plain }, 'the information about the session');
    await write(store, 'copy', wholeRun('Third.'));
  }),
  the('a log that ends in the middle of a run is imported unchanged', async ({ store }) => {
    await write(store, 'one', [said('Go.'), ...worked(1), ...worked(2).slice(0, 2)]);
    const lines = await exported(store, 'one');
    await importSession(store, lines, 'copy');
    const types = (await store.read('copy')).map(({ type }) => type);
    expectEqual(
      types,
      (await store.read('one')).map(({ type }) => type),
      'the events',
    );
    // No process runs it, so any writer may claim it.
    await write(store, 'copy', [said('On.'), ended()]);
  }),
  the('blank lines, live events and unknown types are ignored', async ({ store }) => {
    await write(store, 'one', wholeRun());
    const lines = await exported(store, 'one');
    const started = '{"type":"started","v":1,"sessionId":"one","runId":"r"}';
    await importSession(store, ['', started, ...lines, '\n', '   '], 'copy');
    expectEqual((await store.read('copy')).length, lines.length, 'the number of events');
  }),
  the('a damaged line is reported, and nothing is imported', async ({ store }) => {
    await write(store, 'one', wholeRun('Go.', 4));
    const lines = await exported(store, 'one');
    const damaged: [number, string[]][] = [
      [3, lines.map((line, index) => (index === 2 ? line.slice(0, 40) : line))],
      [5, lines.map((line, index) => (index === 4 ? line.replace('"seq":5', '"seq":-5') : line))],
      [4, lines.map((line, index) => (index === 3 ? line.replace('"isError":false', '"isError":0') : line))],
      [2, lines.toSpliced(1, 1)],
      [4, lines.toSpliced(3, 0, lines[2] ?? '')],
      [1, ['[]', ...lines]],
      [lines.length + 1, [...lines, (lines[1] ?? '').replace('"seq":2', `"seq":${lines.length + 1}`)]],
    ];
    for (const [line, given] of damaged) {
      const { message } = await expectRefused(
        () => importSession(store, given, 'bad'),
        'damaged_log',
        `line ${line}`,
      );
      expect(
        message.startsWith(`Line ${line} `),
        `line ${line} to be named in the message, found ${message}`,
      );
      expectEqual(await store.info('bad'), undefined, `the events after the damaged line ${line}`);
    }
  }),
  the('an empty import, a malicious id or an id in use is rejected', async ({ store }) => {
    await write(store, 'one', wholeRun());
    const lines = await exported(store, 'one');
    await expectRefused(() => importSession(store, [], 'new'), 'no_events', 'no lines');
    await expectRefused(() => importSession(store, ['\n'], 'new'), 'no_events', 'an empty line');
    await expectRefused(() => importSession(store, lines, '../new'), 'session_id', 'a malicious id');
    await expectRefused(() => importSession(store, lines, 'one'), 'session_exists', 'an id in use');
    expectEqual(await store.sessions(), ['one'], 'the sessions');
    await write(store, 'one', [said('More.'), answered('Done.'), ended()]);
  }),
];

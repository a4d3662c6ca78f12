import { describe, expect, it } from 'vitest';
import { Executor } from '../../src/loop/executor.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { fakeRuntime, scriptedAgent } from '../../src/testing/index.ts';
import { isoTime } from '../../src/values/runtime.ts';

const says = () => scriptedAgent(Array.from({ length: 8 }, () => ({ text: 'Done.' })));

describe('a memory store with keepLast', () => {
  it('removes the least recently claimed sessions', async () => {
    const store = memoryStore({ keepLast: 2 });
    const executor = new Executor({ agent: says(), store, runtime: fakeRuntime() });
    for (const sessionId of ['one', 'two', 'three']) await executor.run('Go.', { sessionId });
    expect(await store.sessions()).toEqual(['two', 'three']);
  });

  it('counts a continued session as recently used', async () => {
    const store = memoryStore({ keepLast: 2 });
    const executor = new Executor({ agent: says(), store, runtime: fakeRuntime() });
    for (const sessionId of ['one', 'two', 'one', 'three']) await executor.run('Go.', { sessionId });
    expect(await store.sessions()).toEqual(['one', 'three']);
  });

  it('never removes a session with an active run', async () => {
    const store = memoryStore({ keepLast: 1 });
    const epoch = await store.claim('busy');
    await store.claim('other');
    await store.claim('another');
    const event = { v: 1, seq: 1, id: 'busy-1', time: isoTime(0), runId: 'r', type: 'resumed' } as const;
    await store.append('busy', [event], { epoch });
    expect(await store.read('busy')).toEqual([event]);
  });
});

it('a title is the start of the first text, without the notes that follow it', async () => {
  const store = memoryStore();
  const text = (words: string) => ({ type: 'text' as const, text: words });
  const content = [text('Fix it.'), text('<attachment name="plan mode">Only read.</attachment>')];
  await new Executor({ agent: says(), store, runtime: fakeRuntime() }).run(content, { sessionId: 'one' });
  expect((await store.info('one'))?.title).toBe('Fix it.');
});

describe('isoTime', () => {
  it.each([0, 1, 59_999, 60_000, 1_795_281_661_007, -1, -60_001, 253_402_300_800_000])(
    'returns the same text as Date.toISOString for %d',
    (ms) => {
      expect(isoTime(ms)).toBe(new Date(ms).toISOString());
    },
  );

  it('returns the same text after any other call', () => {
    expect([isoTime(59_999), isoTime(60_000), isoTime(59_999)]).toEqual([
      '1970-01-01T00:00:59.999Z',
      '1970-01-01T00:01:00.000Z',
      '1970-01-01T00:00:59.999Z',
    ]);
  });

  it('rejects NaN', () => {
    expect(() => isoTime(Number.NaN)).toThrow('An argument to isoTime is invalid');
  });
});

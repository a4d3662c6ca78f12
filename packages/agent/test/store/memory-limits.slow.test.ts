import { describe, expect, it } from 'vitest';
import type { Event } from '../../src/events/event.ts';
import { noMetrics } from '../../src/interfaces/metrics.ts';
import { Executor } from '../../src/loop/executor.ts';
import type { MemoryStoreOptions } from '../../src/store/memory-store.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { memoryLimits } from '../../src/store/session-memory.ts';
import { fakeRuntime, scriptedAgent } from '../../src/testing/index.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';

/** Creates an executor whose responses have 10,000 characters. */
function scene(options: MemoryStoreOptions) {
  const store = memoryStore(options);
  const agent = scriptedAgent([{ text: 'x'.repeat(10_000) }], { repeat: true });
  return { store, executor: new Executor({ agent, store, runtime: fakeRuntime() }) };
}

const head = { v: 1, id: 'a-1', time: '2026-01-01T00:00:00.000Z', runId: 'r' } as const;

/** Creates a prompt with this many characters. */
function said(seq: number, length: number): Event {
  return { ...head, seq, type: 'user', content: [{ type: 'text', text: 'x'.repeat(length) }] };
}

describe('the bytes of a memory store', () => {
  it('are at most keepBytes: ended sessions are removed, least recently claimed first [P29]', async () => {
    const { store, executor } = scene({ keepBytes: 35_000 });
    for (const sessionId of ['a', 'b', 'c', 'a', 'd']) await executor.run('Go.', { sessionId });
    expect(await store.sessions()).toEqual(['a', 'd']);
    expect(JSON.stringify(await store.read('a')).length).toBeGreaterThan(20_000);
  });

  it('are freed when a session is deleted', async () => {
    const { store, executor } = scene({ keepBytes: 25_000 });
    for (const sessionId of ['a', 'b']) await executor.run('Go.', { sessionId });
    await store.delete('b');
    await executor.run('Go.', { sessionId: 'c' });
    expect(await store.sessions()).toEqual(['a', 'c']);
    await store.prune({ keepLast: 0 });
    for (const sessionId of ['d', 'e']) await executor.run('Go.', { sessionId });
    expect(await store.sessions()).toEqual(['d', 'e']);
  });

  it('exceed keepBytes for runs that have not ended, up to maxBytes [P29]', async () => {
    const { store, executor } = scene({ keepBytes: 0, maxBytes: 25_000 });
    const result = await executor.run('x'.repeat(13_000), { sessionId: 'a' });
    expect(result.status).toBe('complete');
    const full = await executor.run('x'.repeat(26_000), { sessionId: 'b' });
    expect(full.error).toMatchObject({ kind: 'agent', code: 'store' });
    expect(full.error?.message).toMatch(
      /^The event store failed: The running and waiting sessions in memory would need 27\d\d\d bytes, but maxBytes is 25000\. Raise maxBytes, or use sqliteStore\.$/,
    );
    // The failed run does not use memory that other runs need.
    expect((await executor.run('x'.repeat(13_000), { sessionId: 'c' })).status).toBe('complete');
    expect(await store.sessions()).toEqual(['c']);
  });

  it('of a run that exceeded the limit are freed for others, even if its end was not stored', async () => {
    const { store, executor } = scene({ keepBytes: 0, maxBytes: 25_000 });
    const epoch = await store.claim('a');
    await store.append('a', [said(1, 20_000)], { epoch });
    expect(() => store.append('a', [said(2, 20_000)], { epoch })).toThrow('maxBytes is 25000');
    expect((await store.read('a')).length).toBe(1);
    expect((await executor.run('Go.', { sessionId: 'b' })).status).toBe('complete');
    expect(await store.sessions()).toEqual(['b']);
  });

  it('are never freed by removing the session that needs them, or a waiting session', async () => {
    const { store, executor } = scene({ keepBytes: 0 });
    await executor.run('Go.', { sessionId: 'a' });
    const again = await executor.run('x'.repeat(10_000), { sessionId: 'a' });
    expect([again.status, again.messages.length]).toEqual(['complete', 4]);
    const { tool } = probeTools();
    const agent = scriptedAgent([{ calls: [{ name: 'pay', arguments: {} }] }]);
    const asking = new Executor({ agent, store, tools: [tool('pay')], gate: () => 'ask' });
    expect((await asking.run('Go.', { sessionId: 'b' })).status).toBe('waiting');
    await executor.run('Go.', { sessionId: 'c' });
    expect(await store.sessions()).toEqual(['b', 'c']);
  });

  it('do not include an event that did not fit, and a smaller event can follow it', async () => {
    const { store, executor } = scene({ keepBytes: 0, maxBytes: 25_000 });
    const first = await store.claim('a');
    await store.append('a', [said(1, 12_000)], { epoch: first });
    expect(() => store.append('a', [said(2, 20_000)], { epoch: first })).toThrow('maxBytes is 25000');
    const epoch = await store.claim('a');
    await store.append('a', [said(2, 100)], { epoch });
    expect((await executor.run('Go.', { sessionId: 'b' })).status).toBe('complete');
    expect(await store.sessions()).toEqual(['a', 'b']);
  });

  it('include the ids of only the last 10,000 removed sessions', async () => {
    const store = memoryStore({ keepLast: 1 });
    for (let at = 0; at <= 10_001; at += 1) {
      const epoch = await store.claim(`s${at}`);
      await store.append(
        `s${at}`,
        [{ ...head, seq: 1, type: 'finished', status: 'complete', metrics: noMetrics }],
        {
          epoch,
        },
      );
    }
    expect(() => store.claim('s1')).toThrow('Session s1 was removed');
    expect(store.claim('s0')).toBeGreaterThan(0);
  });

  it('of a removed session cause an error at its next use, once [P29]', async () => {
    const { executor } = scene({ keepBytes: 15_000 });
    for (const sessionId of ['a', 'b']) await executor.run('Go.', { sessionId });
    const gone = await executor.run('Go on.', { sessionId: 'a' });
    expect(gone.error).toMatchObject({ kind: 'invalid', code: 'session_removed' });
    expect(gone.error?.message).toBe(
      'Session a was removed to free memory. To start a new session with this id, repeat the call. To keep more sessions, raise keepBytes or use sqliteStore.',
    );
    expect((await executor.run('Go on.', { sessionId: 'a' })).messages).toHaveLength(2);
    expect((await executor.resume('b')).error?.code).toBe('no_session');
  });

  it('are limited to 64 MiB by default, and to 256 MiB with unfinished runs', async () => {
    expect(memoryLimits).toEqual({
      keepLast: Number.POSITIVE_INFINITY,
      keepBytes: 64 * 1024 * 1024,
      maxBytes: 256 * 1024 * 1024,
    });
    const agent = scriptedAgent([{ text: 'x'.repeat(20_000_000) }], { repeat: true });
    const store = memoryStore();
    const executor = new Executor({ agent, store, runtime: fakeRuntime() });
    for (const sessionId of ['a', 'b', 'c', 'd']) await executor.run('Go.', { sessionId });
    expect(await store.sessions()).toEqual(['b', 'c', 'd']);
  });
});

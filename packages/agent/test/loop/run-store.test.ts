import { describe, expect, it } from 'vitest';
import { emptyState } from '../../src/events/state.ts';
import type { ToolContext } from '../../src/interfaces/tool.ts';
import { Executor } from '../../src/loop/executor.ts';
import { memoryStore } from '../../src/store/memory-store.ts';
import { openSession } from '../../src/store/open-session.ts';
import type { Store } from '../../src/store/store.ts';
import { probeTools } from '../../src/testing/probe-tools.ts';
import { calls, scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import { eventsOf, said, wholeRun, write } from '../../src/testing/stored-events.ts';
import { newFile, open } from '../node/sqlite/rig.ts';

/** Returns a store that records which event types it appends, durable ones separately. */
function noting(): { store: Store; durable: string[]; other: string[] } {
  const kept = memoryStore();
  const [durable, other]: string[][] = [[], []];
  return {
    store: {
      ...kept,
      append(sessionId, events, writer) {
        (writer.durable === true ? durable : other)?.push(...events.map(({ type }) => type));
        return kept.append(sessionId, events, writer);
      },
    },
    durable: durable ?? [],
    other: other ?? [],
  };
}

describe('a run and its store', () => {
  it.each([
    ['read', 0],
    ['idempotent', 1],
    ['once', 1],
    [undefined, 1],
  ] as const)(
    'the start of a tool with the effect %s is durable before it runs: %i times [P9]',
    async (effect, times) => {
      const { store, durable, other } = noting();
      const seen: string[][] = [];
      const tool = probeTools().tool('it', {
        ...(effect !== undefined && { effect }),
        execute: () => {
          seen.push([...durable]);
          return 'done';
        },
      });
      const result = await new Executor({
        agent: scriptedModel([calls(['it']), textResponse('Done.')]),
        tools: [tool],
        store,
      }).run('Go.');
      expect(result.status).toBe('complete');
      expect(durable.filter((type) => type === 'tool_started')).toHaveLength(times);
      expect(seen).toEqual([durable]);
      // Other events are appended without this guarantee.
      expect(other).toContain('assistant');
    },
  );

  it('after a power failure, no call gets the idempotency key of another call [P9]', async () => {
    const store = memoryStore();
    let durable = 0;
    const losing: Store = {
      ...store,
      append(sessionId, events, writer) {
        if (writer.durable === true) durable = events.at(-1)?.seq ?? 0;
        return store.append(sessionId, events, writer);
      },
    };
    const keys: string[] = [];
    const execute = (_: unknown, { idempotencyKey }: ToolContext) => void keys.push(idempotencyKey);
    const tools = [probeTools().tool('put', { effect: 'idempotent', execute })];
    const agent = scriptedModel([calls(['put']), textResponse('Done.')]);
    await new Executor({ agent, tools, store: losing }).run('Go.', { sessionId: 'one' });
    const after = memoryStore();
    const kept = await store.read('one', 0, durable);
    await after.append('one', kept, { epoch: await after.claim('one'), release: true });
    const again = scriptedModel([calls(['put']), calls(['put']), textResponse('Done.')]);
    const executor = new Executor({ agent: again, tools, store: after });
    const { status } = await (kept.length > 0
      ? executor.resume('one')
      : executor.run('Go.', { sessionId: 'one' }));
    expect(status).toBe('complete');
    // The first call, whose result is lost, runs again with its key; the two new calls get new keys.
    expect(keys).toEqual(['one:1.0', 'one:1.0', 'one:2.0', 'one:3.0']);
  });

  it('the start of parallel tools is durable if one of them requires it [P9]', async () => {
    const { store, durable } = noting();
    const { tool } = probeTools();
    const tools = [tool('look', { effect: 'read' }), tool('write')];
    await new Executor({
      agent: scriptedModel([calls(['look', 'look', 'write']), textResponse('Done.')]),
      tools,
      store,
    }).run('Go.');
    expect(durable).toEqual(['tool_started']);
  });

  it('a session in use by another process fails the run with in_use, not with a store error', async () => {
    const file = newFile();
    const [ours, theirs] = [open(file), open(file)];
    await write(theirs, 'one', [said('Mine.')]);
    const result = await new Executor({ agent: scriptedModel([]), store: ours }).run('Go.', {
      sessionId: 'one',
    });
    expect([result.status, result.error?.kind, result.error?.code]).toEqual(['failed', 'invalid', 'in_use']);
    expect(result.error?.message).toMatch(/^Session one is in use by process \d+ on /);
    expect(await ours.read('one')).toHaveLength(1);
  });

  it('an invalid session id is reported', async () => {
    const result = await new Executor({ agent: scriptedModel([]), store: memoryStore() }).run('Go.', {
      sessionId: '../up',
    });
    expect([result.error?.kind, result.error?.code]).toEqual(['invalid', 'session_id']);
  });

  it('a long session is opened from the snapshot of an earlier run, and continues', async () => {
    const store = open(newFile());
    await write(store, 'one', wholeRun('Before.', 150));
    const asked: number[] = [];
    const watched: Store = {
      claim: (id) => store.claim(id),
      append: (id, events, writer) => store.append(id, events, writer),
      read: (id, afterSeq = 0, limit) => {
        asked.push(afterSeq);
        return store.read(id, afterSeq, limit);
      },
      sessions: () => store.sessions(),
      snapshot: (id) => store.snapshot?.(id),
      keepSnapshot: (id, state, writer) => store.keepSnapshot?.(id, state, writer),
    };
    const executor = new Executor({
      agent: scriptedModel([textResponse('One.'), textResponse('Two.')]),
      store: watched,
    });
    const first = await executor.run('Go on.', { sessionId: 'one' });
    expect([first.status, asked]).toEqual(['complete', [0]]);
    asked.length = 0;
    const second = await executor.run('And on.', { sessionId: 'one' });
    expect(second.status).toBe('complete');
    expect(Math.min(...asked)).toBeGreaterThan(400);
    expect(second.messages.slice(0, first.messages.length)).toEqual(first.messages);
  });

  it('a session is opened in parts, and an unknown one is empty', async () => {
    const store = memoryStore();
    const epoch = await store.claim('one');
    await store.append('one', eventsOf('one', wholeRun('Go.', 900)), { epoch });
    const limits: unknown[] = [];
    const watched: Store = {
      ...store,
      read: (id, afterSeq, limit) => {
        limits.push([afterSeq, limit]);
        return store.read(id, afterSeq, limit);
      },
    };
    expect((await openSession(watched, 'one')).seq).toBe(2703);
    expect(limits).toEqual([
      [0, 1000],
      [1000, 1000],
      [2000, 1000],
    ]);
    expect(await openSession(store, 'two')).toEqual(emptyState());
  });
});

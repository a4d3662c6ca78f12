import { join } from 'node:path';
import type { Store } from '@cobbler/agent';
import { AgentError, Executor, memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { BestEffortStore } from '../../src/session/best-effort-store.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Creates a store whose appends fail while `fails.code` is set. */
function moody(): { store: Store; inner: Store; fails: { code: string | undefined } } {
  const inner = memoryStore();
  const fails: { code: string | undefined } = { code: undefined };
  const store: Store = {
    claim: (...args) => inner.claim(...args),
    read: (...args) => inner.read(...args),
    sessions: () => inner.sessions(),
    append(...args) {
      if (fails.code === undefined) return inner.append(...args);
      throw new AgentError({ kind: 'agent', code: fails.code, message: 'No room.' });
    },
  };
  return { store, inner, fails };
}

describe('a store that fails during a run', () => {
  test('does not discard the response; the failure is reported once, and missing events are counted', async () => {
    const told: string[] = [];
    const { store, fails } = moody();
    const forgiving = new BestEffortStore(store, ({ message }) => told.push(message));
    fails.code = 'store_full';
    const run = new Executor({ agent: scriptedAgent(['Forty-two.']), store: forgiving }).run('What is it?');
    const result = await run;
    expect([result.status, result.text, told]).toEqual(['complete', 'Forty-two.', ['No room.']]);
    expect(forgiving.missing(run.sessionId)).toBe(3);
  });

  test('receives all events in order when it accepts writes again', async () => {
    const { store, inner, fails } = moody();
    const forgiving = new BestEffortStore(store, () => undefined);
    const executor = new Executor({ agent: scriptedAgent(['One.', 'Two.']), store: forgiving });
    fails.code = 'store_full';
    const { sessionId } = await executor.run('first');
    fails.code = undefined;
    expect((await executor.run('second', { sessionId })).messages).toHaveLength(4);
    const events = await inner.read(sessionId);
    expect(events.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(forgiving.missing(sessionId)).toBe(0);
  });

  test('does not discard the response if the SQLite file is full', async () => {
    const inner = sqliteStore(join(temporaryFolder(), 'sessions.db'), { maxBytes: 90_000 });
    const told: string[] = [];
    const store = new BestEffortStore(inner, ({ code }) => told.push(String(code)));
    const long = 'x'.repeat(200_000);
    const result = await new Executor({ agent: scriptedAgent([long]), store }).run('go');
    await inner.close();
    expect([result.status, result.text.length, told]).toEqual(['complete', 200_000, ['store_full']]);
  });
});

test.each(['in_use', 'fenced'])('a store rejection fails the run: %s', async (code) => {
  const { store, fails } = moody();
  fails.code = code;
  const told: unknown[] = [];
  const forgiving = new BestEffortStore(store, (error) => told.push(error));
  const result = await new Executor({ agent: scriptedAgent(['No.']), store: forgiving }).run('go');
  expect([result.status, told]).toEqual(['failed', []]);
});

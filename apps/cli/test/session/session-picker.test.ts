import { join } from 'node:path';
import { Executor } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { scriptedAgent } from '@cobbler/agent/testing';
import { describe, expect, onTestFinished, test } from 'vitest';
import { pickSession } from '../../src/commands/resume.ts';
import { SessionNotes } from '../../src/session/session-metadata.ts';
import type { Key } from '../../src/terminal/io.ts';
import { fakeIo, fakeKeyboard } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Creates sessions of one directory in order, then a session of another directory. */
async function kept(...prompts: readonly string[]) {
  const home = temporaryFolder();
  let now = Date.now() - 3_600_000;
  const store = sqliteStore(join(home, 'sessions.db'), {
    now: () => {
      now += 60_000;
      return now;
    },
  });
  onTestFinished(() => store.close());
  const notes = new SessionNotes(join(home, 'sessions'));
  for (const prompt of [...prompts, 'elsewhere']) {
    const { sessionId } = await new Executor({ agent: scriptedAgent(['Fine.']), store }).run(prompt);
    notes.write(sessionId, { folder: prompt === 'elsewhere' ? '/other' : '/work' });
  }
  return { store, notes, file: join(home, 'sessions.db') };
}

async function picked(sessions: Awaited<ReturnType<typeof kept>>, key: string | Key) {
  const keyboard = fakeKeyboard();
  const io = fakeIo({ keyboard });
  const { write } = io.stderr;
  io.stderr.write = (text) => {
    write(text);
    if (text.includes('Which session do you want to continue?'))
      setImmediate(() => keyboard.press('x', '8', key));
  };
  const chosen = await pickSession(sessions, '/work', io);
  return {
    chosen: typeof chosen === 'object' ? chosen.title : chosen,
    shown: io.stderr.text(),
    closed: keyboard.closed,
  };
}

describe('the session picker', () => {
  test('shows the sessions of this directory, last changed first, and accepts a number', async () => {
    const sessions = await kept('one', 'two', 'three');
    const { chosen, shown, closed } = await picked(sessions, '3');
    expect(chosen).toBe('one');
    expect(closed).toBe(true);
    const rows = shown.split('\n').filter((line) => line.includes('complete'));
    expect(rows.map((line) => line.trim().split(/\s+/).at(-1))).toEqual(['three', 'two', 'one']);
    expect(shown).not.toContain('elsewhere');
  });

  test('selects the last session on Enter and none on Esc, and exits on Ctrl-C', async () => {
    const sessions = await kept('one', 'two');
    expect((await picked(sessions, { type: 'enter' })).chosen).toBe('two');
    expect((await picked(sessions, { type: 'escape' })).chosen).toBe('none');
    expect((await picked(sessions, { type: 'interrupt' })).chosen).toBe('interrupt');
  });

  test('does not ask without a choice or without a terminal', async () => {
    const [single, several] = [await kept('only'), await kept('one', 'two')];
    const asked = fakeIo({ keyboard: fakeKeyboard() });
    expect(await pickSession(single, '/work', asked)).toMatchObject({ title: 'only' });
    const piped = fakeIo({ input: '', keyboard: fakeKeyboard() });
    expect(await pickSession(several, '/work', piped)).toMatchObject({ title: 'two' });
    expect(await pickSession(several, '/nowhere', asked)).toBeUndefined();
    expect(asked.stderr.text() + piped.stderr.text()).toBe('');
  });
});

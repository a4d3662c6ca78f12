import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Event } from '@cobbler/agent';

import { sqliteStore } from '@cobbler/agent/node';
import { describe, expect, test } from 'vitest';
import { doctor } from '../../src/commands/doctor.ts';
import { store } from '../../src/commands/store.ts';
import { fakeIo } from '../support/fake-io.ts';
import { cobbler } from '../support/in-process.ts';
import { testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Creates a home with a store of two sessions with two events each. */
async function homeWithSessions(): Promise<{ home: string; file: string }> {
  const home = temporaryFolder();
  const file = join(home, 'sessions.db');
  const made = sqliteStore(file);
  for (const id of ['one', 'two']) {
    const epoch = await made.claim(id);
    const events = ['first', 'second'].map((text, index): Event => {
      const seq = index + 1;
      const content = [{ type: 'text' as const, text: `${text} of ${id}` }];
      return {
        v: 1,
        seq,
        id: `${id}-${seq}`,
        time: '2026-01-02T03:04:05.678Z',
        runId: 'r',
        type: 'user',
        content,
      };
    });
    await made.append(id, events, { epoch, release: true });
  }
  await made.close();
  return { home, file };
}

/** Changes the last event of session `two`, as a disk fault could. */
function damage(file: string): void {
  const bytes = readFileSync(file);
  const at = bytes.indexOf('second of two');
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
}

async function run(home: string, operands: readonly string[], options: Record<string, unknown> = {}) {
  const io = fakeIo({ env: { COBBLER_HOME: home }, cwd: home });
  const code = await store(operands, options, io);
  return { code, out: io.stdout.text(), err: io.stderr.text() };
}

describe('cobbler store', () => {
  test('verify reports that all is intact, or names the damaged session and the command to use [P13]', async () => {
    const { home, file } = await homeWithSessions();
    expect(await run(home, ['verify'])).toEqual({
      code: 0,
      out: `${file}: 2 sessions, 4 events, all intact.\n`,
      err: '',
    });
    damage(file);
    const { code, out } = await run(home, ['verify', 'sessions.db']);
    expect([code, out]).toEqual([
      1,
      `${file} is damaged. 2 sessions, 3 events, 1 damaged session.
  session two: only the first 1 event can be read
Copy the intact data to a new file: cobbler store salvage ${file}
`,
    ]);
    const { out: line } = await run(home, ['verify'], { json: true });
    expect(JSON.parse(line)).toMatchObject({
      file,
      ok: false,
      sessions: [
        { id: 'one', events: 2 },
        { id: 'two', events: 1, problem: expect.stringContaining('Event 2 of session two') },
      ],
    });
  });

  test('salvage copies intact data, reports the losses per session and keeps the file unchanged [P13]', async () => {
    const { home, file } = await homeWithSessions();
    damage(file);
    const before = readFileSync(file);
    const { code, out, err } = await run(home, ['salvage']);
    expect([code, out]).toEqual([
      1,
      'session two: 2 events kept; event 2 is lost; the last run is marked as failed\n1 session copied unchanged, 1 damaged.\n',
    ]);
    expect(err).toContain(`The sessions are in ${file}.salvaged.`);
    expect(readFileSync(file).equals(before)).toBe(true);
    await expect(run(home, ['salvage'])).rejects.toMatchObject({ code: 'store_exists' });
    expect((await run(home, ['verify', `${file}.salvaged`])).code).toBe(0);
  });

  test('salvage --replace makes the sessions usable immediately and keeps the damaged file [P13]', async () => {
    const { home, file } = await homeWithSessions();
    damage(file);
    const { err } = await run(home, ['salvage'], { replace: true });
    expect(err).toBe(`${file} now contains the sessions. The damaged file was renamed to ${file}.damaged.\n`);
    expect(existsSync(`${file}.damaged`)).toBe(true);
    const opened = sqliteStore(file);
    expect(await opened.sessions()).toEqual(['one', 'two']);
    expect((await opened.read('two')).map(({ type }) => type)).toEqual(['user', 'finished']);
    await opened.close();
    expect((await run(home, ['verify'])).code).toBe(0);
  });

  test('reports an unknown action, a missing file and an empty home', async () => {
    const home = temporaryFolder();
    await expect(run(home, ['verfy'])).rejects.toThrow('Did you mean verify?');
    await expect(run(home, ['salvage'])).rejects.toThrow('There is no session file to salvage.');
    await expect(run(home, ['verify', 'x.db'])).rejects.toThrow('there is no such file');
    expect((await run(home, ['verify'])).err).toBe('No sessions are stored yet.\n');
  });

  test('reports how to repair a damaged session, and lists and shows the others [P13]', async () => {
    const { home, file } = await homeWithSessions();
    damage(file);
    const at = (...args: string[]) => cobbler(args, { env: { COBBLER_HOME: home } });
    expect((await at('sessions', 'show', 'one')).stdout).toContain('first of one');
    const shown = await at('sessions', 'show', 'two');
    expect(shown.code).not.toBe(0);
    expect(shown.stderr).toContain(`Event 2 of session two is damaged or missing in ${file}.`);
    expect(shown.stderr).toContain(`cobbler store salvage ${file}`);
    expect((await at('sessions')).stdout.trimEnd().split('\n').length).toBeGreaterThanOrEqual(2);
    expect((await at('store', 'verify')).code).toBe(1);
  });

  test('doctor checks the store [P13]', async () => {
    const { home, file } = await homeWithSessions();
    const examined = async () => {
      const io = fakeIo({ env: { COBBLER_HOME: home, ANTHROPIC_API_KEY: testKey }, cwd: home });
      const code = await doctor({ json: true }, io);
      const { checks } = JSON.parse(io.stdout.text()) as { checks: { name: string }[] };
      return { code, check: checks.find(({ name }) => name === 'sessions.db') };
    };
    expect(await examined()).toEqual({
      code: 0,
      check: { name: 'sessions.db', ok: true, found: '2 sessions, 4 events, all intact' },
    });
    damage(file);
    expect(await examined()).toMatchObject({
      code: 1,
      check: { ok: false, repair: expect.stringContaining(`cobbler store salvage ${file}`) },
    });
    writeFileSync(file, 'dear diary '.repeat(1000));
    expect((await examined()).code).toBe(1);
  });
});

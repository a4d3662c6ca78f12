import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { stripVTControlCharacters } from 'node:util';
import { Executor, systemRuntime } from '@cobbler/agent';
import { forkSession } from '@cobbler/agent/fork';
import { sqliteStore } from '@cobbler/agent/node';
import type { MockReply } from '@cobbler/agent/testing';
import { scriptedAgent } from '@cobbler/agent/testing';
import { workspaceTools } from '@cobbler/tools';
import { describe, expect, test } from 'vitest';
import { openSessions } from '../../src/session/session-home.ts';
import { cobbler as spawned } from '../support/binary.ts';
import { cobbler, invoke } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

/** Creates a work directory, a home and a service with scripted replies. */
async function place(...script: readonly MockReply[]) {
  const service = await mockService(script);
  const home = join(temporaryFolder(), 'home');
  const cwd = temporaryFolder();
  const env = { ...claudeAt(service), COBBLER_HOME: home };
  const at = (...args: readonly string[]) => cobbler(args, { env, cwd });
  const ids = async () => {
    const { stdout } = await at('sessions', '--json');
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line).id as string]));
  };
  return { service, home, cwd, env, at, ids };
}

describe('a run', () => {
  test('is stored in the private home, and says how to continue', patience, async () => {
    const { at, home, cwd, ids } = await place(says('Hello.'));
    const { code, stderr } = await at('say hello');
    expect(code).toBe(0);
    const [id = ''] = await ids();
    expect(stderr).toContain(`session ${id.slice(0, 8)} · continue: cobbler -s ${id.slice(0, 8)} "..."`);
    const files = ['.', 'sessions.db', 'sessions', join('sessions', `${id}.json`)];
    expect(files.map((name) => statSync(join(home, name)).mode & 0o777)).toEqual([
      0o700, 0o600, 0o700, 0o600,
    ]);
    const { stdout } = await at('sessions');
    expect(stdout).toMatch(new RegExp(`^${id.slice(0, 8)} +complete +now .*say hello +${cwd} .*\n$`));
  });

  test('is not stored if an option or the configuration says so, or without a home', patience, async () => {
    const { at, home, cwd, env } = await place(says('One.'), says('Two.'), says('Three.'));
    expect((await at('--no-session', 'go')).stderr).not.toContain('session');
    expect(existsSync(join(home, 'sessions.db'))).toBe(false);
    expect((await at('config', 'set', 'keepSessions', 'false')).code).toBe(0);
    expect((await at('go')).code).toBe(0);
    expect(existsSync(join(home, 'sessions.db'))).toBe(false);
    const { COBBLER_HOME: _, ...homeless } = env;
    const end = await cobbler(['go'], { env: homeless, cwd });
    expect([end.code, existsSync('/nonexistent')]).toEqual([0, false]);
  });

  test(
    'continues the last session of this directory, or any session by a prefix of its id',
    patience,
    async () => {
      const { at, env, ids, service } = await place(
        says('One.'),
        says('Two.'),
        says('Three.'),
        says('Four.'),
      );
      await at('first');
      await cobbler(['elsewhere'], { env, cwd: temporaryFolder() });
      const [, mine = ''] = await ids();
      expect((await at('-c', 'second')).code).toBe(0);
      expect((await at('-s', mine.slice(0, 6), 'third')).stdout).toBe('Four.\n');
      expect(service.server.exchanges.at(-1)?.request?.turns.length).toBe(5);
      expect(await ids()).toHaveLength(2);
    },
  );

  test('leaves the original session unchanged when it continues in a fork', patience, async () => {
    const { at, ids, service } = await place(says('One.'), says('Two.'));
    await at('first');
    const [parent = ''] = await ids();
    const { code } = await at('-c', '--fork', 'second');
    expect(code).toBe(0);
    const [child = ''] = await ids();
    expect(service.server.exchanges.at(-1)?.request?.turns.length).toBe(3);
    const shown = await at('sessions', 'show', child);
    expect(shown.stdout).toContain(`fork of  ${parent} at event 3`);
    expect((await at('sessions', 'show', parent)).stdout).not.toContain('second');
  });

  test('is named after the prompt, not after the attachment', patience, async () => {
    const { at, cwd } = await place(says('One.'));
    writeFileSync(join(cwd, 'a.txt'), 'the first words of a file\n');
    await at('-f', 'a.txt', 'what is this?');
    expect((await at('sessions')).stdout).toMatch(/what is this\?/);
  });

  test('continues in the directory of the session, with its model', patience, async () => {
    const { at, cwd, env, service } = await place(says('One.'), says('', ['list_files', {}]), says('Two.'));
    await at('-m', 'claude:claude-other', 'first');
    writeFileSync(join(cwd, 'mark.txt'), '');
    const [line = ''] = (await at('sessions', '--json')).stdout.split('\n');
    const end = await cobbler(['-s', JSON.parse(line).id, 'second'], { env, cwd: temporaryFolder() });
    expect([end.code, end.stderr]).toEqual([0, expect.stringContaining(cwd)]);
    expect(JSON.stringify(service.server.exchanges.at(-1)?.request)).toContain('mark.txt');
    expect(service.server.exchanges.map(({ request }) => request?.model)).toEqual(
      Array(3).fill('claude-other'),
    );
  });
});

describe('after kill -9', () => {
  const sleeper = 'echo begun >> log; echo ready; sleep 60';

  /** Starts a run and kills it during a command. */
  async function killed() {
    const here = await place(says('', ['run_command', { command: sleeper }]), says('It may have run.'));
    let seen = '';
    const end = await spawned(['--json=deltas', '--yes', 'go'], {
      ...here,
      onOutput: (text, child) => {
        seen += text;
        if (seen.includes('"text":"ready')) child.kill('SIGKILL');
      },
    });
    expect(end.signal).toBe('SIGKILL');
    return here;
  }

  test('resume continues the run, and no command runs twice', patience, async () => {
    const { at, cwd } = await killed();
    expect((await at('sessions')).stdout).toContain('interrupted');
    const { code, stdout, stderr } = await at('resume');
    expect([code, stdout]).toEqual([0, 'It may have run.\n']);
    expect(stderr).toMatch(/session [0-9a-f]{8} · continue/);
    expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('begun\n');
    expect((await at('sessions')).stdout).toContain('complete');
  });

  test(
    'resume with a prompt sends it after the interrupted call, which does not run again',
    patience,
    async () => {
      const { at, cwd, ids, service } = await killed();
      const [id = ''] = await ids();
      const { code, stdout } = await at('resume', id.slice(0, 8), 'did it', 'run?');
      expect([code, stdout]).toEqual([0, 'It may have run.\n']);
      expect(readFileSync(join(cwd, 'log'), 'utf8')).toBe('begun\n');
      expect(service.server.exchanges).toHaveLength(2);
      const turns = service.server.exchanges[1]?.request?.turns ?? [];
      expect(turns.flatMap(({ parts }) => parts)).toMatchObject([
        { type: 'text', text: 'go' },
        { type: 'call', name: 'run_command' },
        { type: 'result', text: expect.stringContaining('may or may not have taken effect') },
        { type: 'text', text: 'did it run?' },
      ]);
      expect(await ids()).toEqual([id]);
      expect((await at('sessions')).stdout).toContain('complete');
    },
  );

  test('resume rejects a run that has ended', patience, async () => {
    const { at, service } = await killed();
    expect((await at('resume', '--yes')).code).toBe(0);
    const { code, stderr } = await at('resume');
    expect([code, stderr]).toEqual([2, expect.stringMatching(/has ended \(complete\)/)]);
    expect(service.server.exchanges).toHaveLength(2);
  });
});

test('rejects a session that another process uses, and names that process', patience, async () => {
  const { at, env, cwd } = await place(says('', ['run_command', { command: 'echo ready; sleep 60' }]));
  let second: Promise<Awaited<ReturnType<typeof at>>> | undefined;
  await spawned(['--json=deltas', '--yes', 'go'], {
    env,
    cwd,
    onOutput: (text, child) => {
      if (second !== undefined || !text.includes('"text":"ready')) return;
      second = at('-c', 'me too').finally(() => child.kill('SIGINT'));
    },
  });
  const end = await second;
  const words = end?.stderr.replaceAll(/\s+/g, ' ');
  expect([end?.code, words]).toEqual([2, expect.stringMatching(/is in use by process \d+ on .* try again/)]);
});

describe('a store that cannot be opened', () => {
  const damages: readonly (readonly [string, (file: string) => void, RegExp])[] = [
    ['damaged', (file) => writeFileSync(file, Buffer.alloc(8192, 7)), /is damaged .* restore a backup/],
    ['newer', (file) => alter(file, 'PRAGMA user_version = 9000'), /newer version .* Update Cobbler/],
    ['foreign', (file) => alter(file, 'PRAGMA application_id = 7'), /belongs to another program/],
    ['emptied', (file) => writeFileSync(file, ''), /is empty, but it previously contained sessions/],
  ];

  test.each(damages)(
    '%s: the run prints one warning and still responds',
    patience,
    async (_, damage, words) => {
      const { at, home } = await place(says('One.'), says('Two.'));
      await at('first');
      damage(join(home, 'sessions.db'));
      const { code, stdout, stderr } = await at('second');
      expect([code, stdout]).toEqual([0, 'Two.\n']);
      const [warning = '', ...others] = stderr.split('\n').filter((line) => line.startsWith('cobbler: '));
      expect(others).toEqual([]);
      expect(warning).toMatch(/^cobbler: this run will not be saved\. /);
      expect(warning).toMatch(words);
      expect(stderr).not.toContain('continue:');
      const named = await at('-c', 'third');
      expect([named.code, named.stderr]).toEqual([2, expect.stringMatching(words)]);
    },
  );

  function alter(file: string, sql: string): void {
    const db = new DatabaseSync(file);
    db.exec(sql);
    db.close();
  }
});

describe('cobbler sessions', () => {
  test('exports, imports, forks, renames and deletes', patience, async () => {
    const { at, cwd, ids, home } = await place(says('One.'), says('Two.'));
    await at('first');
    await at('-c', 'second');
    const [id = ''] = await ids();
    const { stdout } = await at('sessions', 'export', id.slice(0, 5));
    expect(
      stdout
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line).seq),
    ).toEqual([1, 2, 3, 4, 5, 6]);
    expect((await at('sessions', 'export', id, '-o', 'log.jsonl')).code).toBe(0);
    expect(statSync(join(cwd, 'log.jsonl')).mode & 0o777).toBe(0o600);
    const imported = (await at('sessions', 'import', 'log.jsonl')).stdout.trim();
    const fork = (await at('sessions', 'fork', imported, '--at', '3')).stdout.trim();
    await at('sessions', 'rename', fork, 'A', 'new', 'name');
    const list = (await at('sessions')).stdout;
    expect(list.split('\n')[0]).toMatch(new RegExp(`^${fork.slice(0, 8)} .*A new name`));
    expect(await ids()).toHaveLength(3);
    expect((await at('sessions', 'search', 'second', '-n', '1')).code).toBe(0);
    const nothing = await at('sessions', 'search', 'zzqq');
    expect([nothing.code, nothing.stderr]).toEqual([1, 'No message contains these words.\n']);
    expect((await at('sessions', 'search', 'zzqq', '--json')).code).toBe(1);
    expect((await at('sessions', 'delete', id, imported)).code).toBe(0);
    expect(await ids()).toEqual([fork]);
    expect(readdirSync(join(home, 'sessions'))).toEqual([`${fork}.json`]);
    expect((await at('sessions', 'prune', '--keep-last', '0')).stderr).toMatch(/^1 session deleted/);
    expect((await at('sessions', 'vacuum')).stderr).toMatch(/bytes of .*sessions\.db freed/);
    expect((await at('sessions')).stderr).toBe('No sessions yet.\n');
  });

  test('reports unknown names and ambiguous prefixes', patience, async () => {
    const { at, cwd, home } = await place(says('One.'));
    await at('first');
    const store = sqliteStore(join(home, 'sessions.db'));
    const [from = ''] = await store.sessions();
    for (const to of ['twin-1', 'twin-2']) await forkSession(store, { from, to }, systemRuntime);
    await store.close();
    const { code, stderr } = await at('sessions', 'show', 'twin');
    expect([code, stderr]).toEqual([
      2,
      'cobbler: The ids of 2 sessions start with "twin":\n  twin-1  first\n  twin-2  first\n',
    ]);
    expect((await at('sessions', 'show', 'twin-1')).stdout).toMatch(/^session {2}twin-1\n/);
    expect((await at('sessions', 'show', 'nope')).stderr).toMatch(/There is no session "nope"/);
    expect((await at('-c', '-C', temporaryFolder(), 'x')).stderr).toMatch(/ has no sessions/);
    expect((await at('sessions', 'shwo')).stderr).toMatch(/Did you mean show\?/);
    writeFileSync(join(cwd, 'bad.jsonl'), '{"v":1}\n');
    expect((await at('sessions', 'import', 'bad.jsonl')).stderr).toMatch(/Line 1 .*Nothing was imported/);
  });
});

test('asks again about an approval that was pending when the process ended', patience, async () => {
  const cwd = temporaryFolder();
  const home = join(temporaryFolder(), 'home');
  const sessions = await openSessions({ COBBLER_HOME: home });
  const call = { name: 'write_file', arguments: { path: 'a.txt', content: 'one\n' } };
  const executor = new Executor({
    agent: scriptedAgent([{ calls: [call] }]),
    tools: workspaceTools({ root: cwd, sandbox: 'off' }),
    gate: () => ({ type: 'ask' }),
    attended: true,
    store: sessions.store,
  });
  const run = executor.run('write it');
  for await (const event of run) if (event.type === 'approval_requested') break;
  sessions.notes.write(run.sessionId, { folder: cwd });
  await sessions.store.close();
  const service = await mockService([says('Written.')]);
  const env = { ...claudeAt(service), COBBLER_HOME: home };
  const place = { env, cwd, keys: ['y'] };
  const end = await invoke(['--ask'], place, { session: run.sessionId, resumes: true });
  expect([end.code, end.stdout]).toEqual([0, 'Written.\n']);
  expect(stripVTControlCharacters(end.stderr)).toMatch(
    /\? write_file {3}a\.txt[\s\S]*1 \+ one[\s\S]*✓ write_file {3}a\.txt/,
  );
  expect(readFileSync(join(cwd, 'a.txt'), 'utf8')).toBe('one\n');
});

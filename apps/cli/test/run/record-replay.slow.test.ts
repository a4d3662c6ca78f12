import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { MockReply } from '@cobbler/agent/testing';
import { failsWith, replies, responseSteps, scriptResponse } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { cobbler, invoke } from '../support/in-process.ts';
import { claudeAt, mockService, says, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

/** Creates a directory with two files to read, and a path for the cassette beside it. */
function place(): { cwd: string; cassette: string } {
  const folder = temporaryFolder();
  const cwd = join(folder, 'work');
  mkdirSync(cwd);
  writeFileSync(join(cwd, 'a.txt'), 'apples\n');
  writeFileSync(join(cwd, 'b.txt'), 'pears\n');
  return { cwd, cassette: join(folder, 'run.jsonl') };
}

const busy = failsWith({ kind: 'busy', message: 'Overloaded' });

function cut(text: string): MockReply {
  const answer = scriptResponse([text], { model: 'claude-test' });
  return replies(answer, { steps: responseSteps(answer).slice(0, 3), ending: 'reset' });
}

/** A run with a 529, parallel reads, a cut stream, an edit and a denied command. */
const script = (): MockReply[] => [
  busy,
  says('I read.', ['read_file', { path: 'a.txt' }], ['read_file', { path: 'b.txt' }], ['list_files', {}]),
  cut('Half a sen'),
  says(
    'I write.',
    ['write_file', { path: 'c.txt', content: 'plums\n' }],
    ['run_command', { command: 'rm a.txt' }],
  ),
  says('**Done.**'),
];

async function recorded(args: readonly string[] = ['what is there?', '--edits', '--json=deltas']) {
  const { cwd, cassette } = place();
  const service = await mockService(script());
  const end = await invoke([...args, '--record', cassette], { env: claudeAt(service), cwd });
  return { end, cassette, cwd, service };
}

/** An environment without a valid key, network or configuration. */
const nothing = { ANTHROPIC_BASE_URL: 'http://127.0.0.1:9', OPENAI_API_KEY: 'sk-of-somebody-else-entirely' };

describe('cobbler --record and --replay', () => {
  test('replays a run byte for byte without key, network, directory or tools [P19]', patience, async () => {
    const { end, cassette } = await recorded();
    expect(end.code, end.stderr).toBe(5);
    const empty = temporaryFolder();
    const again = await cobbler(['--replay', cassette, '--json=deltas'], { env: nothing, cwd: empty });
    expect(again.code, again.stderr).toBe(5);
    expect(again.stdout).toBe(end.stdout);
    expect(again.stdout).toContain('"type":"retry"');
    expect(again.stdout).toContain('"denied":true');
    expect(readdirSync(empty)).toEqual([]);
    const text = readFileSync(cassette, 'utf8');
    expect(text).not.toContain(testKey);
    expect(text).not.toContain(testKey.slice(0, 20));
    expect(text).toContain('apples');
  });

  test('replays a wait, and fails for a cassette that does not declare waiting', patience, async () => {
    const { cwd, cassette } = place();
    const service = await mockService([says('I wait.', ['wait_until', { seconds: 0.05 }]), says('Done.')]);
    const args = ['go', '--json', '--record', cassette];
    const end = await invoke(args, { env: claudeAt(service), cwd });
    expect(end.code, end.stderr).toBe(0);
    expect(end.stdout).toContain('The wait is over. It is ');
    const replay = () => invoke(['--replay', cassette, '--json'], { env: nothing, cwd });
    expect((await replay()).stdout).toBe(end.stdout);
    const lines = readFileSync(cassette, 'utf8').split('\n');
    const older = lines.filter((line) => !/"fact":"(waits|tools)"/.test(line));
    expect(older).toHaveLength(lines.length - 2);
    writeFileSync(cassette, older.join('\n'));
    const differs = await replay();
    expect(differs.code).not.toBe(0);
    expect(differs.stderr).toContain('request 1 in the replay differs');
  });

  test('replays plan mode with the approval of the plan', patience, async () => {
    const { cwd, cassette } = place();
    const edit = ['write_file', { path: 'new.txt', content: 'x\n' }] as const;
    const service = await mockService([
      says('', ['present_plan', { plan: 'Write new.txt.' }]),
      says('', edit),
      says('Done.'),
    ]);
    const args = ['--plan', 'go', '--record', cassette];
    const end = await invoke(args, { env: claudeAt(service), cwd, keys: ['y', 'y'] });
    expect([end.code, existsSync(join(cwd, 'new.txt'))], end.stderr).toEqual([0, true]);
    const again = await invoke(['--replay', cassette], { env: nothing, cwd: temporaryFolder() });
    expect([again.code, again.stdout], again.stderr).toEqual([0, end.stdout]);
  });

  test('uses the model, its settings and the limits of the cassette', patience, async () => {
    const { end, cassette } = await recorded(['go', '--edits', '--json', '--max-turns', '1']);
    expect(end.code).toBe(3);
    const home = temporaryFolder();
    writeFileSync(join(home, 'config.yaml'), 'model: best\nmaxTokens: 77\nmaxTurns: 50\nmaxUsd: 0.01\n');
    const env = { ...nothing, COBBLER_HOME: home, COBBLER_MODEL: 'openai:other' };
    const again = await invoke(['--replay', cassette, '--json'], { env, cwd: temporaryFolder() });
    expect(again.stdout).toBe(end.stdout);
    expect(again.code).toBe(3);
  });

  test('prints where the run was recorded, and that it is a replay', patience, async () => {
    const { end, cassette } = await recorded(['go', '--edits']);
    expect(end.stdout).toBe('**Done.**\n');
    expect(end.stderr).toContain(`Recorded in ${cassette}. Replay it: cobbler --replay ${cassette}`);
    const again = await invoke(['--replay', cassette], { env: nothing, cwd: temporaryFolder() });
    expect(again.stdout).toBe('**Done.**\n');
    expect(again.stderr).toContain('replaying');
    expect(again.stderr).toContain("--allow 'run_command(rm a.txt)'");
  });

  test(
    'reports a mismatch with its request, position and remedy, exits with 1 and sends nothing',
    patience,
    async () => {
      const { cassette, service } = await recorded();
      const before = service.server.exchanges.length;
      const env = claudeAt(service);
      const end = await cobbler(['what is missing?', '--replay', cassette, '--json'], {
        env,
        cwd: temporaryFolder(),
      });
      expect(end.code).toBe(1);
      const last = JSON.parse(end.stdout.trimEnd().split('\n').at(-1) ?? '');
      expect(last).toMatchObject({ type: 'finished', status: 'failed', error: { code: 'replay_miss' } });
      expect(end.stderr).toContain('request 1 in the replay differs from request 1 in the cassette.');
      expect(end.stderr).toContain('at messages[0].content[0].text:');
      expect(end.stderr).toContain('what is there?');
      expect(end.stderr).toContain('what is missing?');
      expect(end.stderr).toContain('--refresh');
      expect(service.server.exchanges).toHaveLength(before);
    },
  );

  test('reports a mismatch if the cassette continues after the end of the run', patience, async () => {
    const { cassette } = await recorded();
    const lines = readFileSync(cassette, 'utf8').replace(
      '"fact":"limits","value":{"turns":100}',
      '"fact":"limits","value":{"turns":2}',
    );
    writeFileSync(cassette, lines);
    const end = await invoke(['--replay', cassette, '-q'], { env: nothing, cwd: temporaryFolder() });
    expect(end.code).toBe(1);
    expect(end.stderr).toContain('cobbler: The replay has ended, but the cassette continues with request 5.');
  });

  test('rejects an incomplete cassette with its name, wherever it ends', patience, async () => {
    const { cassette } = await recorded();
    const whole = readFileSync(cassette, 'utf8').trimEnd().split('\n');
    for (const lines of [2, Math.floor(whole.length / 2), whole.length - 1]) {
      writeFileSync(cassette, `${whole.slice(0, lines).join('\n')}\n`);
      for (const more of [[], ['--refresh']]) {
        const end = await invoke(['--replay', cassette, ...more], { env: nothing, cwd: temporaryFolder() });
        expect([end.code, end.stderr]).toEqual([2, expect.stringContaining('is incomplete')]);
        expect(end.stderr).toContain(cassette);
      }
    }
  });

  test(
    '--refresh runs and records the task again; a failed refresh leaves the cassette unchanged',
    patience,
    async () => {
      const { cassette, cwd } = await recorded();
      const old = readFileSync(cassette, 'utf8');
      const broken = await mockService([failsWith({ kind: 'auth', message: 'no' })]);
      const args = ['--replay', cassette, '--refresh', '--edits', '--json'];
      const failed = await invoke(args, { env: claudeAt(broken), cwd });
      expect(failed.code).toBe(2);
      expect(failed.stderr).toContain('is unchanged');
      expect(readFileSync(cassette, 'utf8')).toBe(old);
      expect(readdirSync(join(cwd, '..'))).toEqual(['run.jsonl', 'work']);
      const service = await mockService([says('Now it is otherwise.')]);
      const end = await invoke(args, { env: claudeAt(service), cwd });
      expect(end.code, end.stderr).toBe(0);
      expect(service.server.exchanges[0]?.text).toContain('what is there?');
      const again = await invoke(['--replay', cassette, '--json'], { env: nothing, cwd: temporaryFolder() });
      expect(again.stdout).toBe(end.stdout);
      expect(again.stdout).toContain('Now it is otherwise.');
    },
  );

  test(
    'does not reuse recorded permissions for live tools, and sends nothing to the recorded address [P21]',
    patience,
    async () => {
      const { cassette, cwd, service } = await recorded(['go', '--yes', '--json']);
      expect(existsSync(join(cwd, 'a.txt'))).toBe(false);
      writeFileSync(join(cwd, 'a.txt'), 'apples\n');
      const before = service.server.exchanges.length;
      const live = await invoke(['--replay', cassette, '--live-tools', '--json'], { env: nothing, cwd });
      expect(live.code, live.stderr).toBe(1);
      expect(live.stderr).toContain('request 3 in the replay differs from request 3');
      expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
      const other = await mockService([says('', ['run_command', { command: 'rm a.txt' }]), says('Well.')]);
      const fresh = await invoke(['--replay', cassette, '--refresh'], { env: claudeAt(other), cwd });
      expect(fresh.code, fresh.stderr).toBe(5);
      expect(existsSync(join(cwd, 'a.txt'))).toBe(true);
      expect(service.server.exchanges).toHaveLength(before);
    },
  );

  test(
    '--live-tools runs tools that read; unchanged files replay, and changed text is reported',
    patience,
    async () => {
      const { cwd, cassette } = place();
      const service = await mockService([says('I read.', ['read_file', { path: 'a.txt' }]), says('Apples.')]);
      const end = await invoke(['go', '--json', '--record', cassette], { env: claudeAt(service), cwd });
      const args = ['--replay', cassette, '--live-tools', '--json'];
      const same = await invoke(args, { env: nothing, cwd });
      expect(same.stdout).toBe(end.stdout);
      writeFileSync(join(cwd, 'a.txt'), 'cherries\n');
      const other = await invoke(args, { env: nothing, cwd });
      expect(other.code).toBe(1);
      expect(other.stderr).toContain('apples');
      expect(other.stderr).toContain('cherries');
    },
  );
});

describe('approvals at a terminal', () => {
  test('are recorded and replayed without asking the user again', patience, async () => {
    const { cwd, cassette } = place();
    const write = (path: string) => ['write_file', { path, content: 'x\n' }] as const;
    const service = await mockService([says('I write.', write('c.txt'), write('d.txt')), says('Done.')]);
    const end = await invoke(['go', '--record', cassette], { env: claudeAt(service), cwd, keys: ['y', 'n'] });
    expect(end.code, end.stderr).toBe(0);
    expect(readdirSync(cwd)).toEqual(['a.txt', 'b.txt', 'c.txt']);
    const again = await invoke(['--replay', cassette, '--json'], { env: nothing, cwd: temporaryFolder() });
    expect(again.code, again.stderr).toBe(0);
    const events = again.stdout
      .trimEnd()
      .split('\n')
      .map((line) => JSON.parse(line));
    const decided = events.filter(({ type }) => type === 'approval_decided');
    expect(decided.map(({ decision }) => decision)).toEqual(['allow', 'deny']);
    expect(decided.every(({ waitedMs }) => waitedMs > 0)).toBe(true);
    expect(
      events
        .filter(({ type }) => type === 'tool_result')
        .map(({ isError }) => isError)
        .toSorted(),
    ).toEqual([false, true]);
  });
});

describe('invalid options', () => {
  test.for([
    [['x', '--record', 'a', '--replay', 'b'], '--record and --replay cannot be used together.'],
    [['x', '--refresh'], '--refresh requires --replay.'],
    [['x', '--live-tools'], '--live-tools requires --replay.'],
    [['--replay', 'a', '--refresh', '--live-tools'], '--refresh and --live-tools cannot be used together.'],
    [
      ['--replay', 'a', '--max-turns', '3'],
      "--max-turns cannot be used with --replay: the cassette contains the run's settings.",
    ],
    [
      ['--replay', 'a', '--yes'],
      "--yes cannot be used with --replay: the cassette contains the run's settings.",
    ],
    [
      ['--replay', 'a', '--no-context-files'],
      "--no-context-files cannot be used with --replay: the cassette contains the run's settings.",
    ],
    [['--replay', '/no/such'], '/no/such does not exist.'],
    [['--replay', '/etc/hostname'], 'The cassette cannot be used: line 1: it is not a JSON object.'],
    [['x', '--record', '/no/such/file'], 'Cannot write /no/such/file: its directory does not exist.'],
  ] as const)('are rejected: %s', patience, async ([args, message], { expect }) => {
    const end = await invoke(args, { env: { ANTHROPIC_API_KEY: testKey }, cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr.split('\n')[0]).toBe(`cobbler: ${message}`);
  });
});

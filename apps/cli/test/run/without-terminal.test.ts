import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answersStatus, failsWith, replies, scriptResponse } from '@cobbler/agent/testing';
import { describe, expect, test } from 'vitest';
import { cobbler as spawned } from '../support/binary.ts';
import { cobbler } from '../support/in-process.ts';
import { claudeAt, mockService, says, testKey } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };

describe('a run without a terminal', () => {
  test('writes the response to standard output and the rest to standard error', patience, async () => {
    const service = await mockService([says('**42**')]);
    const end = await cobbler(['what is the answer?'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toMatchObject({ code: 0, stdout: '**42**\n' });
    expect(end.stderr).toMatch(
      /for approvals\)\ncomplete {2}1 turn · 0 tools · [\d.]+ m?s · 120 in 30 out\n$/,
    );
    expect(end.stdout + end.stderr).not.toContain('\x1b');
  });

  test('removes spaces and quotes around the key, and never shows it [P19]', patience, async () => {
    const service = await mockService([says('ok')]);
    const env = { ...claudeAt(service), ANTHROPIC_API_KEY: ` "${testKey}"\n` };
    const end = await cobbler(['-v', 'hi'], { env, cwd: temporaryFolder() });
    expect(end.code).toBe(0);
    expect(service.server.exchanges[0]?.headers.get('authorization')).toBe(`Bearer ${testKey}`);
    expect(end.stdout + end.stderr).not.toContain(testKey);
  });

  test(
    'denies a call that needs approval, continues, exits with 5 and shows the option that allows it',
    patience,
    async () => {
      const service = await mockService([
        says('', ['run_command', { command: 'npm test' }]),
        says('I could not.'),
      ]);
      const end = await cobbler(['test it'], { env: claudeAt(service), cwd: temporaryFolder() });
      expect(end).toMatchObject({ code: 5, stdout: 'I could not.\n' });
      expect(end.stderr).toContain("\n    --allow 'run_command(npm test)'\n");
      const sent = service.server.exchanges[1]?.request?.turns.at(-1)?.parts[0];
      expect(sent).toMatchObject({ type: 'result', isError: true });
    },
  );

  test('runs the call with the option that it showed', patience, async () => {
    const service = await mockService([says('', ['run_command', { command: 'echo hi' }]), says('Done.')]);
    const args = ['say hi', '--allow', 'run_command(echo hi)'];
    const end = await cobbler(args, { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(0);
    expect(end.stderr).toMatch(/tool run_command echo hi ok exit 0 .*\n {2}hi\n/);
  });

  test('--plan denies changes, and the response is the plan', patience, async () => {
    const write = ['write_file', { path: 'a.txt', content: 'x\n' }] as const;
    const service = await mockService([says('', write), says('1. Write a.txt.')]);
    const cwd = temporaryFolder();
    const end = await cobbler(['--plan', 'write a file'], { env: claudeAt(service), cwd });
    expect(end).toMatchObject({ code: 0, stdout: '1. Write a.txt.\n' });
    expect(readdirSync(cwd)).toEqual([]);
    const [first, second] = service.server.exchanges;
    expect(JSON.stringify(first?.request)).toContain('Plan mode: until the user approves a plan');
    expect(JSON.stringify(second?.request)).toContain('Present one with present_plan. Without that tool');
    expect(JSON.stringify(first?.request)).not.toContain('"present_plan"');
  });

  test('--edits allows edits and denies commands', patience, async () => {
    const service = await mockService([
      says('', ['write_file', { path: 'a.txt', content: 'x\n' }], ['run_command', { command: 'echo' }]),
      says('Done.'),
    ]);
    const end = await cobbler(['go', '--edits'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(5);
    expect(end.stderr).toMatch(/tool write_file a\.txt ok/);
    expect(end.stderr).toContain('  1 file changed: a.txt +1 -0');
  });

  test('exits with 3 at a limit and names it', patience, async () => {
    const call = () => says('', ['list_files', {}]);
    const service = await mockService([call(), call(), call()]);
    const end = await cobbler(['go', '--max-turns', '2'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(3);
    expect(end.stderr).toMatch(/\nstopped after 2 turns \(--max-turns limit\) {2}2 turns/);
  });

  test('exits with 124 at the time limit', patience, async () => {
    const service = await mockService([{ type: 'silent' }]);
    const end = await cobbler(['go', '--timeout', '300ms'], {
      env: claudeAt(service),
      cwd: temporaryFolder(),
    });
    expect(end.code).toBe(124);
    expect(end.stderr).toContain('stopped after 0.3 s (--timeout limit)');
  });

  test('rejects a money limit with an unknown price before any request', patience, async () => {
    const service = await mockService([says('never')]);
    const end = await cobbler(['go', '--max-usd', '1'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain('The price of claude-test is unknown, so --max-usd cannot be enforced.');
    expect(service.server.exchanges).toHaveLength(0);
  });

  test('exits with 2 for a rejected key, and shows host, status and variable', patience, async () => {
    const service = await mockService([failsWith({ kind: 'auth', message: 'invalid x-api-key' })]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(
      `401 from ${new URL(service.url).host}: the key from ANTHROPIC_API_KEY was rejected.`,
    );
    expect(end.stdout + end.stderr).not.toContain(testKey);
  });

  test('exits with 2 for an error page of a proxy, and shows status and host', patience, async () => {
    const service = await mockService([answersStatus(400)]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end.code).toBe(2);
    expect(end.stderr).toContain(`400 from ${new URL(service.url).host}`);
    expect(end.stdout + end.stderr).not.toContain('The gateway responds');
    expect(service.server.exchanges).toHaveLength(1);
  });

  test('retries an overloaded service and reports it', patience, async () => {
    const fault = failsWith({ kind: 'busy', message: 'Overloaded' });
    const service = await mockService([fault, says('after all')]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toMatchObject({ code: 0, stdout: 'after all\n' });
    expect(end.stderr).toMatch(/529 overloaded, retry 1 in 0\.\d s, gives up in 4 m 59 s/);
  });

  test('exits with 1 for a response that reached its length limit', patience, async () => {
    const service = await mockService([
      replies(scriptResponse(['half an ans'], { stop: 'max_tokens', model: 'claude-test' })),
    ]);
    const end = await cobbler(['go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toMatchObject({ code: 1, stdout: 'half an ans\n' });
    expect(end.stderr).toContain('cut off: the response reached its length limit');
  });

  test('-q prints only the response', patience, async () => {
    const service = await mockService([says('Looking.', ['list_files', {}]), says('42')]);
    const end = await cobbler(['-q', 'go'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(end).toEqual({ code: 0, signal: null, stdout: '42\n', stderr: '' });
  });

  test('-o also writes the response to a file', patience, async () => {
    const service = await mockService([says('a\tb \x1b[1mbold')]);
    const cwd = temporaryFolder();
    const end = await cobbler(['go', '-o', 'answer.md'], { env: claudeAt(service), cwd });
    expect(end.stdout).toBe('a\tb \\x1b[1mbold\n');
    expect(readFileSync(join(cwd, 'answer.md'), 'utf8')).toBe('a\tb \x1b[1mbold\n');
  });

  test('attaches piped input to the prompt', patience, async () => {
    const service = await mockService([says('ok')]);
    const options = { env: claudeAt(service), cwd: temporaryFolder(), input: 'some diff\n' };
    expect((await cobbler(['review this'], options)).code).toBe(0);
    const texts = service.server.exchanges[0]?.request?.turns[0]?.parts.map(
      (part) => part.type === 'text' && part.text,
    );
    expect(texts).toEqual(['<attachment name="standard input">\nsome diff\n</attachment>', 'review this']);
  });

  test('reads AGENTS.md unless --no-context-files is set', patience, async () => {
    const cwd = temporaryFolder();
    writeFileSync(join(cwd, 'AGENTS.md'), 'Always answer in rhyme.');
    const service = await mockService([says('ok'), says('ok')]);
    await cobbler(['go'], { env: claudeAt(service), cwd });
    await cobbler(['go', '--no-context-files', '--system', 'Be brief.'], { env: claudeAt(service), cwd });
    const [first, second] = service.server.exchanges.map((exchange) => exchange.request?.system ?? '');
    expect(first).toContain('Always answer in rhyme.');
    expect(second).not.toContain('rhyme');
    expect(second).toMatch(/^Be brief\./);
  });

  test('--tools none sends no tools', patience, async () => {
    const service = await mockService([says('ok')]);
    await cobbler(['go', '--tools', 'none'], { env: claudeAt(service), cwd: temporaryFolder() });
    expect(service.server.exchanges[0]?.request?.tools).toEqual([]);
  });
});

test('says at once that --notify has no destination or no session', async () => {
  const service = await mockService([]);
  const [env, cwd] = [{ ...claudeAt(service), COBBLER_HOME: temporaryFolder() }, temporaryFolder()];
  expect(await cobbler(['--notify', 'go'], { env, cwd })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('--notify has no destination.'),
  });
  const { code, stderr } = await cobbler(['--notify', '--no-session', 'go'], { env, cwd });
  expect([code, stderr]).toEqual([2, expect.stringContaining('--notify needs a saved session.')]);
  expect(service.server.exchanges).toEqual([]);
});

test('writes only to the home directory, and writes nothing with --no-session', patience, async () => {
  const [cwd, home] = [temporaryFolder(), join(temporaryFolder(), 'home')];
  mkdirSync(home);
  const service = await mockService([says('ok'), says('ok')]);
  const env = { ...claudeAt(service), HOME: home, TMPDIR: home };
  await spawned(['--no-session', 'go'], { env, cwd });
  expect([readdirSync(cwd), readdirSync(home)]).toEqual([[], []]);
  await spawned(['go'], { env, cwd });
  expect([readdirSync(cwd), readdirSync(home)]).toEqual([[], ['.cobbler']]);
});

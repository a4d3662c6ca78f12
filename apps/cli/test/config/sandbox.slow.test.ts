import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { probeSandboxSync } from '@cobbler/agent/sandbox';
import { describe, expect, test } from 'vitest';
import { permissionIn } from '../../src/config/permission-plan.ts';
import { readRunFlags } from '../../src/config/run-flags.ts';
import { sandboxIn } from '../../src/config/sandbox.ts';
import { checkSandbox } from '../../src/doctor/checkup.ts';
import { fakeIo } from '../support/fake-io.ts';
import { greeter } from '../support/greeter.ts';
import { invoke } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const works = probeSandboxSync().works;
/** A machine without bubblewrap. */
const bare = { COBBLER_SANDBOX: '', COBBLER_BWRAP: '/nowhere/bwrap' };
const withSandbox = { COBBLER_SANDBOX: 'workspace' };

/** Runs one command of a model. */
async function runCommand(input: object, args: readonly string[], env: object, keys?: readonly string[]) {
  const service = await mockService([says('', ['run_command', input]), says('Done.')]);
  const cwd = temporaryFolder();
  const place = { env: { ...claudeAt(service), HOME: cwd, COBBLER_HOME: temporaryFolder(), ...env }, cwd };
  const end = await invoke([...args, 'go'], keys === undefined ? place : { ...place, keys });
  const sent = JSON.stringify(service.server.exchanges);
  return { ...end, cwd, sent };
}

describe('without bubblewrap', () => {
  const write = { command: 'touch made' };

  test('a run says so once, with the command that installs it [P21]', async () => {
    const { stderr } = await runCommand(write, [], bare);
    expect(stderr.match(/There is no sandbox: bubblewrap is not installed/g)).toHaveLength(1);
    expect(stderr).toMatch(/bubblewrap\. To run commands with all your permissions: --no-sandbox/);
  });

  test.each([[['--yes']], [['--sandboxed']]])('no command runs unattended with %j [P21]', async (args) => {
    const { cwd, sent } = await runCommand(write, args, bare);
    expect(existsSync(join(cwd, 'made'))).toBe(false);
    expect(sent).toContain('needs approval');
  });

  test('a user is asked about every command, and "always" is not offered [P21]', async () => {
    const { cwd, stderr } = await runCommand(write, [], bare, ['y']);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(stderr).toContain('Commands run here with all your permissions');
    expect(stderr).not.toContain('always');
  });

  test('a delegated program runs as before, and a run says so once', async () => {
    const [home, cwd, path] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    writeFileSync(join(path, 'claude'), '#!/bin/sh\necho ran > "$HOME/ran"\n', { mode: 0o755 });
    const env = { ...bare, HOME: home, COBBLER_HOME: join(home, '.cobbler'), PATH: `${path}:/usr/bin:/bin` };
    const { stderr } = await invoke(['--backend', 'claude-code', 'go'], { env, cwd });
    expect(stderr.match(/There is no sandbox: .* claude-code runs with all your permissions/g)).toHaveLength(
      1,
    );
    expect(existsSync(join(home, 'ran'))).toBe(true);
    const demanded = await invoke(['--backend', 'claude-code', '--sandbox', 'strict', 'go'], { env, cwd });
    expect(demanded.stderr).toContain('There is no sandbox: bubblewrap is not installed.');
    expect(demanded.stderr).not.toContain('runs with all your permissions');
  });

  test('commands run as before with --no-sandbox', async () => {
    const { cwd, stderr } = await runCommand(write, ['--yes', '--no-sandbox'], bare);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(stderr).not.toContain('There is no sandbox');
  });

  test('a run that demands a sandbox does not start', async () => {
    const flags = readRunFlags({ sandbox: 'strict' });
    const io = fakeIo({ env: bare });
    await expect(sandboxIn(temporaryFolder(), flags, io)).rejects.toMatchObject({ code: 'no_sandbox' });
  });

  test.each(['off', 'external'])('allowed hosts apply to web pages with the sandbox %s', async (sandbox) => {
    const flags = readRunFlags({ sandbox, allowHost: ['good.example'] });
    const env = { COBBLER_HOME: temporaryFolder() };
    expect(await sandboxIn(temporaryFolder(), flags, fakeIo({ env }))).toMatchObject({ kind: sandbox });
    const { permission } = await permissionIn(temporaryFolder(), flags, true, env);
    expect(permission.rules.allow).toEqual(['web_fetch(good.example)']);
  });

  test('a run without commands says nothing', async () => {
    const io = fakeIo({ env: bare });
    await sandboxIn(temporaryFolder(), readRunFlags({ tools: 'read_file' }), io);
    expect(io.stderr.text()).toBe('');
  });

  test('doctor shows the reason and the repair', async () => {
    expect(await checkSandbox(bare)).toMatchObject({
      ok: false,
      repair: expect.stringContaining('bubblewrap'),
    });
    expect(await checkSandbox({ COBBLER_SANDBOX: 'wide' })).toMatchObject({ ok: false });
    expect(await checkSandbox({ COBBLER_SANDBOX: 'off' })).toMatchObject({
      ok: true,
      found: /all your permissions/,
    });
  });
});

describe('the options of the sandbox', () => {
  test('reject unknown names and contradictions', () => {
    expect(() => readRunFlags({ sandbox: 'loose' })).toThrow(/--sandbox cannot be "loose"/);
    expect(() => readRunFlags({ sandbox: false, sandboxed: true })).toThrow(/cannot be used together/);
    expect(readRunFlags({ sandbox: false }).sandbox).toBe('off');
    expect(() => readRunFlags({ allowHost: ['10.0.0.1'] })).toThrow(/"10\.0\.0\.1" is not a host/);
  });
});

describe.skipIf(!works)('in a sandbox (needs bubblewrap)', () => {
  test('--sandboxed edits and runs commands without asking, and the home directory is hidden [P21]', async () => {
    const command = 'touch made; ls -a "$HOME"; cat /proc/1/environ | tr "\\0" "\\n"';
    const { cwd, sent, stderr } = await runCommand({ command }, ['--sandboxed'], withSandbox);
    expect(existsSync(join(cwd, 'made'))).toBe(true);
    expect(stderr).toContain('denies calls that leave the sandbox');
    expect(sent).not.toContain('sk-ant-test');
  });

  test.each(['network', 'all'])('a command that needs %s asks, even with --yes [P21]', async (needs) => {
    const input = { command: 'touch made', needs, reason: 'to download' };
    const denied = await runCommand(input, ['--yes'], withSandbox);
    expect(existsSync(join(denied.cwd, 'made'))).toBe(false);
    const asked = await runCommand(input, ['--sandboxed'], withSandbox, ['y']);
    expect(existsSync(join(asked.cwd, 'made'))).toBe(true);
    expect(asked.stderr).toMatch(/to download/);
    expect(asked.stderr).not.toContain('always');
  });

  test('a command that the sandbox stops reports the rule', async () => {
    const { sent } = await runCommand({ command: 'mkdir /usr/x-cobbler' }, ['--yes'], withSandbox);
    expect(sent).toMatch(/\[sandbox: The sandbox lets commands write only to the workspace and to \/tmp/);
  });

  test('--sandbox strict keeps the workspace as it is', async () => {
    const { cwd } = await runCommand(
      { command: 'touch made' },
      ['--yes', '--sandbox', 'strict'],
      withSandbox,
    );
    expect(existsSync(join(cwd, 'made'))).toBe(false);
  });

  test('the home directory of commands lasts for the project', async () => {
    const home = temporaryFolder();
    const env = { ...withSandbox, COBBLER_HOME: home, HOME: temporaryFolder() };
    const service = await mockService([
      says('', ['run_command', { command: 'echo cached > ~/.x-cache' }]),
      says('Done.'),
    ]);
    await invoke(['--yes', 'go'], { env: { ...claudeAt(service), ...env }, cwd: temporaryFolder() });
    expect(existsSync(join(env.HOME, '.x-cache'))).toBe(false);
    const [project = ''] = readdirSync(join(home, 'sandbox'));
    expect(readFileSync(join(home, 'sandbox', project, '.x-cache'), 'utf8')).toBe('cached\n');
  });

  test.each([
    ['strict', false],
    ['workspace', true],
  ] as const)(
    'an MCP server works with %s, reads no keys, and writes in the workspace: %s',
    async (wanted, writes) => {
      const [home, cwd] = [temporaryFolder(), temporaryFolder()];
      mkdirSync(join(home, '.ssh'));
      writeFileSync(join(home, '.ssh/key'), 'a key');
      const script = `(echo made; cat "$HOME/.ssh/key") > made; exec "${process.execPath}" "$0"`;
      const config = {
        mcp: { greeter: { command: '/bin/sh', args: ['-c', script, greeter], sandbox: wanted } },
      };
      writeFileSync(join(home, 'config.yaml'), JSON.stringify(config));
      const service = await mockService([says('', ['mcp__greeter__greet', { name: 'Ada' }]), says('Done.')]);
      const env = { ...claudeAt(service), ...withSandbox, HOME: home, COBBLER_HOME: home };
      await invoke(['--allow', 'mcp__greeter__greet', 'go'], { env, cwd });
      expect(JSON.stringify(service.server.exchanges)).toContain('Good day, Ada!');
      expect(existsSync(join(cwd, 'made')) && readFileSync(join(cwd, 'made'), 'utf8')).toBe(
        writes && 'made\n',
      );
    },
  );

  test('a delegated program writes in its own directory, and reads no keys, without an option', async () => {
    const [home, cwd, path] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    for (const name of ['.ssh', '.claude']) mkdirSync(join(home, name));
    writeFileSync(join(home, '.ssh/key'), 'a key');
    const script = '#!/bin/sh\n(echo made; cat "$HOME/.ssh/key") > "$HOME/.claude/made"\n';
    writeFileSync(join(path, 'claude'), script, { mode: 0o755 });
    const env = {
      ...withSandbox,
      HOME: home,
      COBBLER_HOME: join(home, '.cobbler'),
      PATH: `${path}:/usr/bin:/bin`,
    };
    const open = { ...env, COBBLER_SANDBOX: '' };
    await invoke(['--backend', 'claude-code', 'go'], { env: open, cwd });
    expect(readFileSync(join(home, '.claude/made'), 'utf8')).toBe('made\n');
    await invoke(['--backend', 'claude-code', '--no-sandbox', 'go'], { env: open, cwd });
    expect(readFileSync(join(home, '.claude/made'), 'utf8')).toBe('made\na key');
  });

  test('doctor shows what is enforced', async () => {
    expect(await checkSandbox(withSandbox)).toMatchObject({
      ok: true,
      found: expect.stringMatching(/no access to the home directory, the network or other processes/),
    });
    expect(await checkSandbox(withSandbox, ['good.example'])).toMatchObject({
      found: expect.stringContaining('the network except good.example or'),
    });
  });

  test('commands can connect to the hosts of the option and the configuration, not of the project [P21]', async () => {
    const [home, folder] = [temporaryFolder(), temporaryFolder()];
    writeFileSync(join(home, 'config.yaml'), 'allowHosts: [a.example]\n');
    mkdirSync(join(folder, '.cobbler'));
    writeFileSync(join(folder, '.cobbler/config.yaml'), 'allowHosts: [c.example]\n');
    const io = fakeIo({ env: { ...withSandbox, HOME: folder, COBBLER_HOME: home } });
    const hostsWith = async (...allowHost: string[]) =>
      (await sandboxIn(folder, readRunFlags({ allowHost }), io)).hosts;
    expect(await hostsWith()).toEqual(['a.example']);
    expect(await hostsWith('b.example:443', 'a.example')).toEqual(['a.example', 'b.example:443']);
  });

  test('a replay describes the hosts as its recording does', async () => {
    const [home, cwd] = [temporaryFolder(), temporaryFolder()];
    const cassette = join(home, 'run.jsonl');
    const service = await mockService([says('', ['run_command', { command: 'echo hello' }]), says('Done.')]);
    const env = { ...claudeAt(service), ...withSandbox, HOME: home, COBBLER_HOME: home };
    const args = ['--yes', '--allow-host', 'good.example', '--record', cassette, 'go'];
    expect((await invoke(args, { env, cwd })).code).toBe(0);
    expect(await invoke(['--replay', cassette], { env, cwd })).toMatchObject({ code: 0 });
  });

  test('a command that connects to another host fails, and its output says so [P21]', async () => {
    const command = 'curl -sSp http://other.example:443/';
    const { sent } = await runCommand({ command }, ['--yes', '--allow-host', 'good.example'], withSandbox);
    expect(sent).toContain('[sandbox: The sandbox does not allow connections to other.example:443.');
    expect(sent).toContain('through the proxy in HTTPS_PROXY, these hosts: good.example.');
  });
});

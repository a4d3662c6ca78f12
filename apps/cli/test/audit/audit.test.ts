import { hash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AuditRecord } from '@cobbler/agent/audit';
import { openAuditLog, readAuditLine } from '@cobbler/agent/audit';
import { describe, expect, test } from 'vitest';
import { audit } from '../../src/doctor/audit-command.ts';
import { fakeIo } from '../support/fake-io.ts';
import { cobbler, invoke } from '../support/in-process.ts';
import { claudeAt, mockService, says } from '../support/mock-service.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const patience = { timeout: 120_000 };
const secret = 'sk-secret-4711';

/** Creates a home, a directory, and a service whose model reads a file and runs a command. */
async function place(command = `echo ${secret}`) {
  const service = await mockService([
    says('', ['read_file', { path: 'a.txt' }], ['run_command', { command }]),
    says('Done.'),
  ]);
  const [home, cwd] = [temporaryFolder(), temporaryFolder()];
  writeFileSync(join(cwd, 'a.txt'), `${secret}\n`);
  const env = { ...claudeAt(service), COBBLER_HOME: home, COBBLER_SANDBOX: 'off', NO_COLOR: '1' };
  const at = (...args: readonly string[]) => cobbler(args, { env, cwd });
  const file = join(home, 'audit', 'audit.jsonl');
  const records = (): AuditRecord[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => readAuditLine(line) ?? []);
  return { home, cwd, env, at, file, records };
}

describe('the audit log of a run', () => {
  test('contains the question, the decision and the call, and no content', patience, async () => {
    const { home, env, cwd, records } = await place();
    expect((await invoke([`say ${secret}`], { env, cwd, keys: ['y'] })).code).toBe(0);
    const kinds = records().map(({ kind }) => kind);
    expect(kinds).toEqual(['start', 'sandbox', 'approval', 'decision', 'call', 'call', 'stop', 'head']);
    const [, sandbox, approval, decision, started, ended] = records();
    expect(sandbox).toMatchObject({ surface: 'run', sandbox: 'off' });
    expect(approval).toMatchObject({ tool: 'run_command', hash: expect.stringMatching(/^[0-9a-f]{64}$/) });
    expect(decision).toMatchObject({ approvalId: approval?.['approvalId'], decision: 'allow' });
    expect(started).toMatchObject({ tool: 'run_command', status: 'started' });
    expect(ended).toMatchObject({ status: 'done', session: started?.['session'] });
    for (const name of readdirSync(join(home, 'audit')))
      expect(readFileSync(join(home, 'audit', name), 'latin1')).not.toContain(secret);
  });

  test('contains the denied call of a run that is not saved and asks no one', patience, async () => {
    const { at, records } = await place();
    expect((await at('--no-session', 'go')).code).toBe(5);
    expect(records().filter(({ kind }) => kind === 'call')).toMatchObject([
      { tool: 'run_command', status: 'denied' },
    ]);
  });

  test('contains each rule that is added or removed, as a digest', patience, async () => {
    const { env, cwd, at, records } = await place('echo hi');
    expect((await invoke(['go'], { env, cwd, keys: ['a'] })).code).toBe(0);
    const [added] = records().filter(({ kind }) => kind === 'rule');
    expect(added).toMatchObject({ change: 'added', tool: 'run_command', surface: 'run' });
    mkdirSync(join(cwd, '.cobbler'));
    writeFileSync(join(cwd, '.cobbler/config.yaml'), 'permissions:\n  allow: ["run_command(echo hi)"]\n');
    expect((await at('permissions', 'remove', 'run_command(echo hi)')).code).toBe(0);
    const [, removed] = records().filter(({ kind }) => kind === 'rule');
    expect(removed).toMatchObject({ change: 'removed', hash: added?.['hash'], surface: 'permissions' });
  });

  test(
    'contains the rules of options and files, as digests, unless the run only reads',
    patience,
    async () => {
      const { at, cwd, home, records } = await place('echo hi');
      mkdirSync(join(cwd, '.cobbler'));
      const rules = 'permissions:\n  allow: ["run_command(echo ho)"]\n  deny: ["run_command(rm *)"]\n';
      writeFileSync(join(cwd, '.cobbler/config.yaml'), rules);
      await at('go', '--allow', 'run_command(echo hi)', '--tools', 'read_file,run_command');
      const found = records().filter(({ kind }) => kind === 'rule');
      const hashOf = (rule: string) => hash('sha256', rule);
      expect(found).toMatchObject([
        { change: 'in_force', verdict: 'allow', tool: 'run_command', hash: hashOf('run_command(echo hi)') },
        { change: 'in_force', verdict: 'deny', tool: 'run_command', hash: hashOf('run_command(rm *)') },
      ]);
      expect(records()[2]).toEqual(found[0]);
      rmSync(join(home, 'audit'), { recursive: true });
      await at('go', '--allow', 'run_command(echo hi)', '--tools', 'read_file');
      expect(readdirSync(home)).not.toContain('audit');
    },
  );

  test('can be turned off by the user, but not by a project', patience, async () => {
    const { at, cwd, home, records } = await place();
    mkdirSync(join(cwd, '.cobbler'));
    writeFileSync(join(cwd, '.cobbler/config.yaml'), 'audit: off\n');
    await at('go');
    expect(records().length).toBeGreaterThan(0);
    const other = await place();
    expect((await other.at('config', 'set', 'audit', 'off')).code).toBe(0);
    await other.at('go');
    expect(readdirSync(other.home)).not.toContain('audit');
    expect(readdirSync(home)).toContain('audit');
    expect((await at('config', 'set', 'audit', 'maybe')).stderr).toContain('must be on or off');
  });

  test('does not stop a run that it cannot record, and says so', patience, async () => {
    const { at, home } = await place();
    writeFileSync(join(home, 'audit'), 'not a directory');
    const end = await at('go');
    expect(end.stdout).toBe('Done.\n');
    expect(end.stderr.match(/The audit log is incomplete/g)).toHaveLength(1);
  });
});

describe('cobbler audit', () => {
  test('shows the records, and the ones that a filter selects', patience, async () => {
    const { at, records } = await place();
    expect((await at('audit')).stderr).toBe('The audit log has no such records.\n');
    await at('go');
    const { stdout } = await at('audit');
    expect(stdout).toMatch(/^time +command +kind +session +what\n/);
    expect(stdout).toMatch(/\dZ +run +call +\w{8} +denied run_command /);
    const [call] = records().filter(({ kind }) => kind === 'call');
    const session = String(call?.['session']);
    const found = await at('audit', 'show', '--session', session.slice(0, 8), '--kind', 'call', '--json');
    expect(JSON.parse(found.stdout)).toEqual(call);
    expect(JSON.parse((await at('audit', '--json', '-n', '1')).stdout)).toEqual(records().at(-1));
    expect((await at('audit', '--json')).stdout.trimEnd().split('\n')).toHaveLength(records().length);
    expect(
      (await at('audit', '--since', '1h', '--kind', 'start', '-n', '1')).stdout.split('\n'),
    ).toHaveLength(3);
    expect((await at('audit', 'check')).stderr).toContain('audit has no action "check"');
  });

  test('exports the bytes of the log, one chunk at a time', async () => {
    const { env, cwd, home, file } = await place();
    mkdirSync(join(home, 'audit'));
    writeFileSync(file, 'é\n'.repeat(60_000));
    const io = fakeIo({ env, cwd, outTty: false });
    const chunks: Uint8Array[] = [];
    let waiting = 0;
    io.stdout.send = async (bytes) => {
      waiting += 1;
      expect(waiting).toBe(1);
      await new Promise(setImmediate);
      waiting -= 1;
      chunks.push(bytes);
    };
    expect(await audit(['export'], {}, io)).toBe(0);
    expect(chunks.length).toBeGreaterThan(1);
    expect(Buffer.concat(chunks).equals(readFileSync(file))).toBe(true);
  });

  test('verifies the log, an export of it, and an anchor', patience, async () => {
    const { at, cwd, home, file, records } = await place();
    expect((await at('audit', 'verify')).stdout).toContain('there are no records yet');
    await at('go');
    const good = await at('audit', 'verify');
    expect(good.code).toBe(0);
    const [, head = ''] = /^head +([0-9a-f]{64})$/m.exec(good.stdout) ?? [];
    const { stdout } = await at('audit', 'export');
    expect(stdout).toBe(readFileSync(file, 'utf8'));
    writeFileSync(join(cwd, 'copy.jsonl'), stdout);
    expect((await at('audit', 'verify', 'copy.jsonl', '--anchor', head)).code).toBe(0);
    const count = records().length;
    writeFileSync(join(cwd, 'copy.jsonl'), stdout.split('\n').slice(0, -2).join('\n'));
    const cut = await at('audit', 'verify', 'copy.jsonl', '--anchor', head);
    expect([cut.code, cut.stdout]).toEqual([1, expect.stringContaining(`line ${count} is missing`)]);
    writeFileSync(file, stdout.replace('"denied"', '"done"'));
    const bad = await at('audit', 'verify', '--json');
    const line = records().findIndex(({ kind }) => kind === 'call') + 1;
    expect([bad.code, JSON.parse(bad.stdout).problem.line]).toEqual([1, line]);
    expect((await at('audit', 'verify', 'missing.jsonl')).code).toBe(2);
    rmSync(file);
    const log = openAuditLog({
      folder: join(home, 'audit'),
      surface: 'run',
      version: '1.2.3',
      onTrouble: () => undefined,
    });
    log.note({ kind: 'token', change: 'removed', token: 'tok_1' });
    log.close();
    const gap = await at('audit', 'verify');
    expect([gap.code, gap.stdout]).toEqual([1, expect.stringContaining('written. The other lines are')]);
    writeFileSync(file, readFileSync(file, 'utf8').replace('tok_1', 'tok_2'));
    expect((await at('audit', 'verify')).stdout).toMatch(/before it are intact\.\nLine 1 marks a gap/);
  });
});

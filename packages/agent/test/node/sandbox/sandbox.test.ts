import { chmodSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { ProgramStart } from '@cobbler/agent/sandbox';
import {
  bwrapSandbox,
  createSandbox,
  isGitLine,
  isRegistryLine,
  noRestrictions,
  probeSandbox,
  probeSandboxSync,
  seatbeltSandbox,
} from '@cobbler/agent/sandbox';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';

let base: string;

beforeEach(() => {
  base = realpathSync(mkdtempSync(join(tmpdir(), 'sandbox-')));
  write('home/project/sub/AGENTS.md', 'x');
  write('home/project/.git/hooks/x', 'x');
});

afterEach(() => rmSync(base, { recursive: true, force: true }));

function write(path: string, text: string, mode = 0o644): string {
  const full = join(base, path);
  mkdirSync(dirname(full), { recursive: true });
  writeFileSync(full, text);
  chmodSync(full, mode);
  return full;
}

const workspace = () => join(base, 'home/project');
const start = (): ProgramStart => ({ argv: ['true'], cwd: workspace(), env: { A: 'b' } });
const env = () => ({ HOME: join(base, 'home'), PATH: '/usr/bin:/bin' });
const optionsOf = (more: object = {}) =>
  bwrapSandbox({ workspace: workspace(), env: env(), ...more }, '/bwrap')
    .enter(start())
    .argv.join(' ');

describe('the options of bubblewrap', () => {
  it('isolate the program, and hide the home directory before they show the workspace', () => {
    const options = optionsOf();
    for (const option of ['--unshare-net', '--unshare-pid', '--disable-userns', '--cap-drop ALL'])
      expect(options).toContain(option);
    expect(options.indexOf('/tmp --')).toBeLessThan(options.indexOf(`--bind ${workspace()} ${workspace()}`));
    expect(options.endsWith(' true')).toBe(true);
  });

  it('make guarded files read-only, and the directories above them mount points first', () => {
    const [options, sub] = [optionsOf(), join(workspace(), 'sub')];
    const [pin, file] = [`--bind ${sub} ${sub}`, `--ro-bind ${sub}/AGENTS.md ${sub}/AGENTS.md`];
    expect(options).toContain(pin);
    expect(options.indexOf(pin)).toBeLessThan(options.indexOf(file));
    expect(options).toContain(`--ro-bind ${workspace()}/.git `);
  });

  it('allow what the caller asks for, and no more', () => {
    expect(optionsOf({ network: true })).not.toContain('--unshare-net');
    expect(optionsOf({ nested: true })).not.toContain('--disable-userns');
    // Root could not create a sandbox in a sandbox.
    expect(optionsOf({ nested: true }).includes('--uid 1000 --gid 1000')).toBe(process.getuid?.() === 0);
    expect(optionsOf({ mode: 'strict' })).toContain(`--ro-bind ${workspace()} ${workspace()}`);
    expect(optionsOf({ git: true })).toContain(`--ro-bind ${workspace()}/.git/hooks `);
    expect(optionsOf({ git: true })).not.toContain(`--ro-bind ${workspace()}/.git ${workspace()}/.git`);
  });

  it('keep the network off for a list of hosts, and start the bridge to a proxy first', () => {
    const network = { hosts: ['good.example'] };
    const sandbox = bwrapSandbox({ workspace: workspace(), env: env(), network }, '/bwrap');
    const { argv, env: inside, leave } = sandbox.enter(start());
    expect(argv.join(' ')).toMatch(/--unshare-net .*\/proxy-\d+ \/dev\/cobbler-proxy .* exec "\$@"/);
    expect(inside).toMatchObject({
      HTTPS_PROXY: 'http://127.0.0.1:23128',
      NO_PROXY: 'localhost,127.0.0.1,::1',
    });
    expect(leave?.()).toEqual([]);
    expect(sandbox.hosts).toEqual(['good.example']);
    expect(sandbox.explain('Could not resolve host: a.example')).toContain('to good.example.');
    expect(sandbox.with({ network: false }).hosts).toEqual(['good.example']);
    const open = sandbox.with({ network: true });
    expect(open.hosts).toEqual(['*']);
    expect(open.enter(start()).argv.join(' ')).not.toMatch(/--unshare-net|cobbler-proxy/);
    expect(optionsOf({ network: { hosts: [] } })).not.toContain('cobbler-proxy');
  });

  it('do not follow a .git file to a directory that does not name it too', () => {
    const other = join(base, 'home/other');
    mkdirSync(join(other, '.ssh'), { recursive: true });
    rmSync(join(workspace(), '.git'), { recursive: true });
    write('home/project/.git', `gitdir: ${other}/.ssh\n`);
    expect(optionsOf()).not.toContain(other);
  });

  it('show a linked worktree the repository that it belongs to', () => {
    const main = join(base, 'home/main/.git');
    for (const name of ['HEAD', 'objects/x', 'refs/x', 'config']) write(`home/main/.git/${name}`, 'x');
    write('home/main/.git/worktrees/project/commondir', '../..\n');
    write('home/main/.git/worktrees/project/gitdir', `${workspace()}/.git\n`);
    rmSync(join(workspace(), '.git'), { recursive: true });
    write('home/project/.git', `gitdir: ${main}/worktrees/project\n`);
    expect(optionsOf()).toContain(`--ro-bind ${main} ${main}`);
    expect(optionsOf({ git: true })).toContain(`--bind ${main} ${main}`);
    expect(optionsOf({ git: true })).toContain(`--ro-bind ${main}/config`);
  });

  it('never show a directory with keys, even if the PATH names it', () => {
    write('home/.ssh/bin/x', 'x');
    const { argv } = bwrapSandbox(
      { workspace: workspace(), env: { HOME: join(base, 'home'), PATH: join(base, 'home/.ssh/bin') } },
      '/bwrap',
    ).enter(start());
    expect(argv.join(' ')).not.toContain('.ssh');
  });

  it('reject a workspace that does not exist or is the root', () => {
    for (const path of ['/', join(base, 'nowhere')])
      expect(() => bwrapSandbox({ workspace: path }, '/bwrap')).toThrow(/cannot be sandboxed/);
  });
});

describe('the environment in a sandbox', () => {
  it('names the temporary directory of the sandbox, and tells programs that they are in one', () => {
    const { env: inside } = bwrapSandbox({ workspace: workspace(), env: env() }, '/bwrap').enter({
      ...start(),
      env: { TMPDIR: '/var/tmp', TMP: '/x', A: 'b' },
    });
    expect(inside).toMatchObject({ TMPDIR: '/tmp', A: 'b', COBBLER_SANDBOX: 'external' });
    expect(inside).not.toHaveProperty('TMP');
  });
});

describe('a line of git commands', () => {
  it.each([
    'git add -A',
    "git commit -m 'a message' && git status",
    'cd sub && git switch -c topic',
    'git tag -a v1 -m "one two"',
    'git stash',
    'git log && git rebase main',
    'git reset HEAD~1',
    'git commit -m "done!"',
  ])('is recognized: %s', (line) => expect(isGitLine(line)).toBe(true));

  it.each([
    'git status',
    'git -c core.pager=evil add .',
    'git add . ; evil',
    'git add . && evil',
    'git add $(evil)',
    'git commit -m "$(evil)"',
    'git commit -m "`evil`"',
    'git add . | evil',
    'git add .\nevil',
    'git rebase -x evil',
    "git rebase '-x' evil",
    "git rebase -i''x evil",
    'git rebase -ix evil',
    'git rebase --exec=evil',
    'git rebase --ex evil',
    'git config core.hooksPath evil',
    'git add . > .git/hooks/pre-commit',
    'GIT_DIR=evil git add .',
    'git push',
    'git add . 2>&1',
    'cd && git add .',
    'cd a b && git add .',
  ])('is not: %s', (line) => expect(isGitLine(line)).toBe(false));
});

describe('a line of package managers', () => {
  it.each(['npm ci', 'npm install -D left && npm audit', 'cd web && pnpm i', 'yarn'])(
    'is recognized: %s',
    (line) => expect(isRegistryLine(line)).toBe(true),
  );

  it.each([
    'cat ~/.npmrc',
    'npm install && cat x',
    'npm install; evil',
    'npm publish',
    'npm exec evil',
    'npm run evil',
    'npm --prefix x install',
    'npm install > out',
    'npm view $(evil)',
    'A=b npm install',
    '',
  ])('is not: %s', (line) => expect(isRegistryLine(line)).toBe(false));
});

describe('the explanation of a failure', () => {
  const explain = (output: string) => bwrapSandbox({ workspace: workspace() }, '/bwrap').explain(output);

  it.each([
    ['curl: (6) Could not resolve host: example.com', /no network/],
    ['npm error getaddrinfo EAI_AGAIN packages.example.com', /no network/],
    ["touch: cannot touch '/etc/x': Read-only file system", /not to \/etc\/x/],
    ["fatal: Unable to create '/p/.git/index.lock': Read-only file system", /protects \.git/],
    ["mv: cannot move '.github' to 'g': Device or resource busy", /move or delete protected files/],
    ['sh: 1: Cannot fork', /number of processes/],
  ])('names the rule: %s', (output, rule) => expect(explain(output)).toMatch(rule));

  it('names a protected file of the workspace', () => {
    expect(explain(`EROFS: read-only file system, open '${workspace()}/AGENTS.md'`)).toContain('AGENTS.md');
  });

  it('is missing where the sandbox is not the reason', () => {
    expect(explain('1 test failed')).toBeUndefined();
    const open = bwrapSandbox({ workspace: workspace(), network: true }, '/bwrap');
    expect(open.explain('Could not resolve host: example.com')).toBeUndefined();
  });
});

describe('the self-test of the sandbox', () => {
  const fake = (script: string) => ({ COBBLER_BWRAP: write('bwrap', `#!/bin/sh\n${script}\n`, 0o755) });

  it.skipIf(process.platform !== 'linux').each([
    ['echo "bwrap: Unknown option --disable-userns" >&2; exit 1', /too old/, /0\.8/],
    ['echo "bwrap: setting up uid map: Permission denied" >&2; exit 1', /user namespaces/, /sysctl/],
    ['echo "bwrap: No permissions to create new namespace" >&2; exit 1', /user namespaces/, /sysctl/],
    ['echo "bwrap: Can\'t mount proc on /newroot/proc" >&2; exit 1', /\/proc/, /container/],
    ['exit 0', /incomplete/, /install/],
  ])('reports a reason and a cure: %s (needs Linux)', async (script, reason, cure) => {
    for (const found of [probeSandboxSync(fake(script)), await probeSandbox(fake(script))])
      expect(found).toMatchObject({
        works: false,
        reason: expect.stringMatching(reason),
        cure: expect.stringMatching(cure),
      });
  });

  // The program that the self-test starts inside is the real one.
  it.skipIf(!probeSandboxSync().works)(
    'fails if a program that starts does not confine anything (needs bubblewrap)',
    async () => {
      const env = fake('while [ "$1" != -- ]; do shift; done; shift; exec "$@"');
      for (const found of [probeSandboxSync(env), await probeSandbox(env)])
        expect(found).toMatchObject({
          works: false,
          reason: expect.stringMatching(/self-test failed.*written/),
        });
    },
  );

  it('makes tools refuse where there is no sandbox, with what to do', () => {
    const missing = { COBBLER_BWRAP: join(base, 'nowhere') };
    expect(() => createSandbox({ workspace: workspace(), env: missing })).toThrow(
      /cannot run in a sandbox here.*To get a sandbox.*'external'.*'off'/,
    );
  });
});

describe('a sandbox that restricts nothing', () => {
  it('starts programs as they are, and says why if one was wanted', () => {
    const sandbox = noRestrictions('off', 'none here');
    const program = start();
    expect(sandbox.with({ network: true }).enter(program)).toBe(program);
    expect(sandbox).toMatchObject({ kind: 'off', missing: 'none here' });
    expect(sandbox.explain('EROFS')).toBeUndefined();
  });
});

describe('the profile for macOS', () => {
  it('denies everything, then allows the workspace without its guarded files', () => {
    symlinkSync('nowhere', join(workspace(), 'CLAUDE.md'));
    const { argv } = seatbeltSandbox({ workspace: workspace(), env: env() }).enter(start());
    const [program, , profile = '', ...rest] = argv;
    expect([program, ...rest]).toEqual(['/usr/bin/sandbox-exec', 'true']);
    expect(profile).toMatch(/^\(version 1\)\(deny default\)/);
    const [allowed, denied] = ['allow file-write*', 'deny file-write*'].map((rule) => profile.indexOf(rule));
    expect(allowed).toBeGreaterThan(0);
    expect(denied).toBeGreaterThan(allowed ?? 0);
    expect(profile).toContain(`${workspace()}/sub/AGENTS.md`);
  });
});

import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { probeSandboxSync } from '@cobbler/agent/sandbox';
import type { BackendEvent, ClaudeCodeOptions } from '@cobbler/delegate';
import { claudeCode, codex } from '@cobbler/delegate';
import { ClaudeCodeAgent } from '@cobbler/delegate/claude-code-agent';
import { describe, expect, it, onTestFinished } from 'vitest';
import { fakeSdk } from './fake-sdk.ts';

const { works } = probeSandboxSync();

/** A user who has installed Claude Code and Codex with npm, in the home directory. */
function machine(script: string) {
  const base = mkdtempSync(join(tmpdir(), 'program-'));
  onTestFinished(() => rmSync(base, { recursive: true, force: true }));
  const [home, workspace] = [join(base, 'home'), join(base, 'home/project')];
  const files: Record<string, string> = {
    'home/project/a.txt': 'old\n',
    'home/.ssh/key': 'a secret\n',
    'home/.claude/settings.json': '{}',
    'home/.claude.json': '{"of":"user"}',
    'home/prefix/lib/node_modules/other/index.js': 'part of it\n',
  };
  for (const name of ['claude', 'codex'])
    files[`home/prefix/lib/node_modules/${name}/cli.js`] = `#!/bin/sh\n${script}\n`;
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(base, path)), { recursive: true });
    writeFileSync(join(base, path), text, { mode: 0o755 });
  }
  mkdirSync(join(home, 'prefix/bin'));
  for (const name of ['claude', 'codex'])
    symlinkSync(`../lib/node_modules/${name}/cli.js`, join(home, 'prefix/bin', name));
  const env = { HOME: home, PATH: '/usr/bin:/bin', ANTHROPIC_API_KEY: 'sk-real-0123456789' };
  const options: ClaudeCodeOptions = { env, path: join(home, 'prefix/bin/claude'), retries: 0 };
  const read = (path: string) => readFileSync(join(base, path), 'utf8');
  return { home, workspace, options, read, has: (path: string) => existsSync(join(base, path)) };
}

const leaves = `exec > "$HOME/.claude/out" 2>&1; cat "$HOME/.ssh/key"; echo "$ANTHROPIC_API_KEY"
  cat "$HOME/.claude.json" "$(dirname "$0")/../other/index.js"; echo new > a.txt
  echo bad > "$HOME/.claude/settings.json"; echo bad > "$HOME/.claude.json"; mkdir "$HOME/.claude/skills"`;

describe('a program that a user delegates to', () => {
  it.skipIf(!works)('runs in a sandbox by default, if one works (needs bubblewrap) [P19, P21]', async () => {
    const { workspace, options, read, has } = machine(leaves);
    const events: BackendEvent[] = [];
    const context = { onEvent: (event: BackendEvent) => events.push(event) };
    await claudeCode({ ...options, permission: 'edit' }).run(
      { prompt: 'Go.', workingDir: workspace },
      context,
    );
    const out = read('home/.claude/out');
    expect(out).toMatch(/cobbler-[0-9a-f]{48}\n\{"of":"user"\}part of it\n/);
    expect(out).not.toMatch(/a secret|sk-real/);
    expect(read('home/project/a.txt')).toBe('new\n');
    expect([read('home/.claude/settings.json'), read('home/.claude.json')]).toEqual(['{}', '{"of":"user"}']);
    expect([has('home/.claude/skills'), has('home/.claude/skills.blocked')]).toEqual([false, true]);
    expect(events).toContainEqual({ type: 'notice', text: expect.stringContaining('skills is protected') });
  });

  it.skipIf(!works)('runs in it in a session agent too (needs bubblewrap) [P19, P21]', async () => {
    const { workspace, options, read } = machine(leaves);
    const sdk = fakeSdk([
      async ({ spawnClaudeCodeProcess, env = {}, pathToClaudeCodeExecutable: command = '' }) => {
        const given = { command, args: [], cwd: workspace, env, signal: new AbortController().signal };
        const program = spawnClaudeCodeProcess?.(given);
        await new Promise((resolve) => program?.on('exit', resolve));
      },
    ]);
    const { env = {}, path = '' } = options;
    const session = { sessionId: 's', workingDirectory: workspace };
    await new ClaudeCodeAgent({ sdk, env, path, retryMs: 1 }).execute('Go.', session);
    expect(read('home/.claude/out')).toMatch(/cobbler-[0-9a-f]{48}\n\{"of":"user"\}part of it\n/);
    expect(read('home/.claude/out')).not.toMatch(/a secret|sk-real/);
    expect([read('home/project/a.txt'), read('home/.claude/settings.json')]).toEqual(['new\n', '{}']);
  });

  it.skipIf(!works)(
    'cannot write in its working directory with the permission read-only (needs bubblewrap) [P20]',
    async () => {
      const { workspace, options, read } = machine(leaves);
      await claudeCode(options).run({ prompt: 'Go.', workingDir: workspace });
      expect(read('home/project/a.txt')).toBe('old\n');
      await claudeCode({ ...options, sandbox: 'workspace' }).run({ prompt: 'Go.', workingDir: workspace });
      expect(read('home/project/a.txt')).toBe('new\n');
    },
  );

  it.skipIf(!works)(
    'keeps its conversations, even if it has never run before (needs bubblewrap)',
    async () => {
      const { home, workspace, options, read } = machine('echo kept > "$HOME/.codex/conversation"');
      const path = join(home, 'prefix/bin/codex');
      await codex({ ...options, path }).run({ prompt: 'Go.', workingDir: workspace });
      expect(read('home/.codex/conversation')).toBe('kept\n');
    },
  );

  it.skipIf(!works)('finds its directory through a link (needs bubblewrap)', async () => {
    const { home, workspace, options, read } = machine('echo kept > "$HOME/.codex/conversation"');
    mkdirSync(join(home, 'dotfiles/codex'), { recursive: true });
    symlinkSync(join(home, 'dotfiles/codex'), join(home, '.codex'));
    const path = join(home, 'prefix/bin/codex');
    await codex({ ...options, path }).run({ prompt: 'Go.', workingDir: workspace });
    expect(read('home/dotfiles/codex/conversation')).toBe('kept\n');
  });

  it.skipIf(!works)('cannot create its settings at the first start (needs bubblewrap) [P21]', async () => {
    const script = 'cd "$CLAUDE_CONFIG_DIR"; echo bad > .claude.json; mkdir plugins/bad; echo ran > out';
    const { home, workspace, options, read, has } = machine(script);
    const env = { ...options.env, CLAUDE_CONFIG_DIR: join(home, 'config') };
    await claudeCode({ ...options, env }).run({ prompt: 'Go.', workingDir: workspace });
    expect([read('home/config/out'), read('home/config/.claude.json')]).toEqual(['ran\n', '{}']);
    expect([has('home/config/plugins/bad'), has('home/config/plugins.blocked')]).toEqual([false, false]);
  });

  it.each([
    [{ sandbox: 'off' }, {}],
    [{ sandboxed: true }, {}],
    [{}, { COBBLER_BWRAP: '/nowhere/bwrap' }],
  ] as const)('runs without one with %j and %j', async (more, variables) => {
    const { workspace, options, read } = machine('cat "$HOME/.ssh/key" > a.txt');
    const env = { ...options.env, ...variables };
    await claudeCode({ ...options, ...more, env }).run({ prompt: 'Go.', workingDir: workspace });
    expect(read('home/project/a.txt')).toBe('a secret\n');
  });

  it('does not run if a sandbox is required and none works [P21]', async () => {
    const { workspace, options, read } = machine('echo new > a.txt');
    const env = { ...options.env, COBBLER_BWRAP: '/nowhere/bwrap' };
    const backend = claudeCode({ ...options, env, sandbox: 'workspace' });
    const { error } = await backend.run({ prompt: 'Go.', workingDir: workspace });
    expect([error?.code, read('home/project/a.txt')]).toEqual(['no_sandbox', 'old\n']);
  });
});

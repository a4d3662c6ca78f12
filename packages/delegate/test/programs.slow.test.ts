import { claudeCode, codex } from '@cobbler/delegate';
import { describe, expect, it } from 'vitest';
import { testBackend } from './backends.ts';
import { backendOf } from './fake-programs.ts';
import { fakePrograms } from './rig.ts';

// backend.slow.test.ts tests Codex.
testBackend('claude-code');

describe('the arguments of a program', () => {
  const argvOf = async (backend: ReturnType<typeof claudeCode>, request: object = {}) => {
    const { workspace } = fakePrograms();
    const result = await backend.run({ prompt: 'argv', workingDir: workspace, ...request });
    return JSON.parse(result.output) as string[];
  };

  it('of Claude Code contain everything but the prompt [S2.12, P20]', async () => {
    const { options } = fakePrograms();
    const argv = await argvOf(claudeCode(options), { maxTurns: 7, maxUsd: 0.5, systemPrompt: 'Be brief.' });
    expect(argv[0]).toBe('-p');
    expect(argv).not.toContain('argv');
    expect(argv.join(' ')).toContain('--permission-mode dontAsk --disallowedTools Edit,Write,NotebookEdit');
    expect(argv.join(' ')).toContain('--append-system-prompt Be brief. --system-prompt-snapshot off');
    expect(argv.join(' ')).toContain('--max-turns 7 --max-budget-usd 0.5');
    expect(argv[argv.indexOf('--setting-sources') + 1]).toBe('');
  });

  it.each([
    ['edit', '--permission-mode acceptEdits'],
    ['bypass', '--dangerously-skip-permissions'],
  ] as const)('of Claude Code match the permission %s [P20]', async (permission, words) => {
    const { options } = fakePrograms();
    const argv = await argvOf(claudeCode({ ...options, permission, sandboxed: true }));
    expect(argv.join(' ')).toContain(words);
  });

  it.each([
    ['read-only', '--sandbox read-only'],
    ['edit', '--sandbox workspace-write'],
    ['bypass', '--dangerously-bypass-approvals-and-sandbox'],
  ] as const)('of Codex match the permission %s [S2.13, P20]', async (permission, words) => {
    const { options } = fakePrograms();
    const argv = (await argvOf(codex({ ...options, permission }))).join(' ');
    expect(argv).toContain(words);
    expect(argv).toContain('request_max_retries=0,stream_max_retries=0');
    expect(argv.endsWith(' -')).toBe(true);
  });

  it.skipIf(process.getuid?.() !== 0)(
    'of Claude Code cannot bypass permissions as root, which is a clear error (needs root) [P20]',
    async () => {
      const { workspace, options } = fakePrograms();
      const result = await claudeCode({ ...options, permission: 'bypass' }).run({
        prompt: 'argv',
        workingDir: workspace,
      });
      expect(result.error).toMatchObject({ kind: 'invalid', code: 'bypass_as_root' });
    },
  );

  it('pass a prompt with a leading slash to the model of Claude Code, not to its commands', async () => {
    const { workspace, options } = fakePrograms();
    const result = await claudeCode(options).run({ prompt: '/cost', workingDir: workspace });
    expect(result.output).toBe('There is no The.');
  });
});

describe('permission gate', () => {
  it.each(['claude-code', 'codex app-server'] as const)(
    'asks about a call of %s and applies the decision [P20]',
    async (name) => {
      const { workspace, options } = fakePrograms();
      const backend = backendOf(name, options, 'gate');
      const played = async (allow: boolean) => {
        const process = backend.start(
          { prompt: 'use write', workingDir: workspace },
          {
            onEvent: (event) => {
              if (event.type !== 'asked') return;
              process.decide(
                event.callId,
                allow ? { type: 'allow' } : { type: 'deny', message: 'Not today.' },
              );
            },
          },
        );
        return process.result;
      };
      expect(await played(true)).toMatchObject({ status: 'completed', denials: [], toolCalls: 1 });
      const denied = await played(false);
      expect(denied.status).toBe('completed');
      expect(denied.denials).toEqual([name === 'claude-code' ? 'write' : 'command_execution']);
    },
  );
});

describe('a Codex version without an app server', () => {
  it('runs jobs with codex exec, and fails if calls require a decision', async () => {
    const { workspace, options } = fakePrograms();
    const old = { ...options, extraEnv: { ...options.extraEnv, FAKE_IS_OLD: '1' } };
    const job = { prompt: 'say Hello.', workingDir: workspace };
    expect(await backendOf('codex app-server', old).run(job)).toMatchObject({
      status: 'completed',
      output: 'Hello.',
    });
    expect(await backendOf('codex app-server', old, 'gate').run(job)).toMatchObject({
      status: 'failed',
      exitCode: 2,
    });
  });
});

describe('limits without a program option', () => {
  it('end a job that exceeds its token limit [P14]', async () => {
    const { workspace, options } = fakePrograms();
    const result = await claudeCode(options).run({ prompt: 'loop', workingDir: workspace, maxTokens: 1000 });
    expect(result).toMatchObject({ status: 'failed', error: { kind: 'limit', code: 'tokens' } });
  });
});

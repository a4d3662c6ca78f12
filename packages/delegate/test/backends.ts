import { mkdirSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import type { BackendEvent } from '@cobbler/delegate';
import { describe, expect, it } from 'vitest';
import type { BackendName } from './fake-programs.ts';
import { backendOf } from './fake-programs.ts';
import { fakePrograms } from './rig.ts';

/** Defines the tests of what every backend does. */
export function testBackend(name: BackendName): void {
  describe(`${name} as a backend`, () => {
    it('runs a job and returns its conversation id, output and exit code [S2.9, S2.12, S2.13]', async () => {
      const { workspace, options } = fakePrograms();
      const result = await backendOf(name, options).run({ prompt: 'say Hello.', workingDir: workspace });
      expect(result).toMatchObject({
        status: 'completed',
        output: 'Hello.',
        exitCode: 0,
        contextLost: false,
      });
      expect(result.cliSessionId).toMatch(/^[0-9a-f-]{36}$/);
      expect(result.usage).toMatchObject({ inputTokens: 120, outputTokens: 30 });
    });

    it('continues a conversation and counts only the usage of this job [P14]', async () => {
      const { workspace, options } = fakePrograms();
      const backend = backendOf(name, options);
      const first = await backend.run({ prompt: 'say One.', workingDir: workspace });
      const resumeId = first.cliSessionId ?? '';
      const second = await backend.run({
        prompt: 'count',
        workingDir: workspace,
        resumeId,
        before: first.totals,
      });
      expect(second).toMatchObject({ output: '2', cliSessionId: resumeId, contextLost: false });
      expect(second.usage).toMatchObject({ inputTokens: 120, outputTokens: 30 });
      if (backend.tellsCost) expect(second.usd).toBeCloseTo(0.001);
    });

    // An id that the program cannot have is not passed to it.
    it.each([
      ['0f9b1c6e-1a2b-4c3d-8e4f-000000000000', 2],
      ['no-such-name', 1],
    ])(
      'starts a new conversation if %s is gone, and reports it once, after %i starts of the program [S1.10]',
      async (resumeId, attempts) => {
        const { workspace, options } = fakePrograms();
        const events: BackendEvent[] = [];
        const result = await backendOf(name, options).run(
          { prompt: 'count', workingDir: workspace, resumeId },
          { onEvent: (event) => void events.push(event) },
        );
        expect(result).toMatchObject({ status: 'completed', output: '1', contextLost: true, attempts });
        const restarts = events.filter((event) => event.type === 'withdrawn');
        expect(restarts).toMatchObject([{ error: { code: 'stale_session' } }]);
      },
    );

    it('does not retry an authentication error, and retries an overloaded service once [P6]', async () => {
      const { workspace, options } = fakePrograms();
      const refused = await backendOf(name, options).run({ prompt: 'fail', workingDir: workspace });
      expect(refused).toMatchObject({ status: 'failed', attempts: 1, error: { kind: 'auth' } });
      const busy = await backendOf(name, options).run({ prompt: 'overloaded', workingDir: workspace });
      expect(busy).toMatchObject({
        status: 'failed',
        attempts: 2,
        error: { kind: 'rate_limit', retryable: true },
      });
    });

    it('passes only harmless variables and the key of its own service to the program [P19]', async () => {
      const { workspace, options, env } = fakePrograms();
      const keys = {
        ANTHROPIC_API_KEY: 'a',
        OPENAI_API_KEY: 'o',
        GITHUB_TOKEN: 'g',
        AWS_SECRET_ACCESS_KEY: 's',
      };
      const result = await backendOf(name, { ...options, env: { ...env, ...keys } }).run({
        prompt: 'env',
        workingDir: workspace,
      });
      const seen = result.output.split(' ');
      const isClaude = name === 'claude-code';
      expect(seen.includes('ANTHROPIC_API_KEY')).toBe(isClaude);
      expect(seen.includes('OPENAI_API_KEY')).toBe(!isClaude);
      expect(seen).not.toContain('GITHUB_TOKEN');
      expect(seen).not.toContain('AWS_SECRET_ACCESS_KEY');
    });

    it('does not retry a job that has run a tool, even after a retryable error [P5]', async () => {
      const { workspace, options } = fakePrograms();
      const result = await backendOf(name, options).run({ prompt: 'stumble', workingDir: workspace });
      expect(result).toMatchObject({
        status: 'failed',
        attempts: 1,
        toolCalls: 1,
        error: { retryable: true },
      });
    });

    it('never reports its key, even if the program prints it [P19]', async () => {
      const { workspace, options, env } = fakePrograms();
      const key = 'sk-secret-0123456789';
      const keys = { ANTHROPIC_API_KEY: key, OPENAI_API_KEY: key };
      const told: unknown[] = [];
      const backend = backendOf(name, { ...options, env: { ...env, ...keys } });
      for (const prompt of ['leak', 'fault leaks-in-pieces']) {
        const context = { onEvent: (event: BackendEvent) => void told.push(event) };
        told.push(await backend.run({ prompt, workingDir: workspace }, context));
      }
      expect(JSON.stringify(told)).not.toContain(key);
      expect(JSON.stringify(told)).toContain('The key is [key].');
    });

    it('runs in the real path of its directory, and rejects a missing one [P20]', async () => {
      const { workspace, area, options } = fakePrograms();
      mkdirSync(join(workspace, 'deep'));
      symlinkSync(join(workspace, 'deep'), join(area, 'link'));
      const result = await backendOf(name, options).run({ prompt: 'cwd', workingDir: join(area, 'link') });
      expect(result.output).toBe(join(workspace, 'deep'));
      const missing = await backendOf(name, options).run({ prompt: 'cwd', workingDir: join(area, 'gone') });
      expect(missing).toMatchObject({ status: 'failed', error: { code: 'no_folder' } });
    });

    it('starts no program if the signal is already aborted', async () => {
      const { workspace, options } = fakePrograms();
      const signal = AbortSignal.abort();
      const result = await backendOf(name, options).run(
        { prompt: 'say no', workingDir: workspace },
        { signal },
      );
      expect(result).toMatchObject({ status: 'cancelled', attempts: 0 });
    });

    it('is cancelled even if the program reports success at the same time [P4]', async () => {
      const { workspace, options } = fakePrograms();
      const process = backendOf(name, options).start(
        { prompt: 'say Late.', workingDir: workspace },
        { onEvent: (event) => event.type === 'end' && process.stop() },
      );
      expect(await process.result).toMatchObject({ status: 'cancelled', error: { kind: 'aborted' } });
    });

    it('can be created without its program, and reports that the program is missing [S2.10, S2.11]', async () => {
      const { workspace } = fakePrograms();
      const backend = backendOf(name, { env: { PATH: '/nowhere' } });
      const result = await backend.run({ prompt: 'say no', workingDir: workspace });
      const program = name === 'claude-code' ? 'claude' : 'codex';
      expect(result).toMatchObject({
        status: 'failed',
        error: { message: `${program} CLI not found in PATH` },
      });
    });
  });
}

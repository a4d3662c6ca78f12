import { execFile } from 'node:child_process';
import type { Environment } from '@cobbler/agent';
import { childEnvironment } from '@cobbler/agent/node';

/** A program that `cobbler run --backend` can hand work to. */
interface BackendProgram {
  readonly name: string;
  readonly backend: string;
  readonly install: string;
}

const programs: readonly BackendProgram[] = [
  { name: 'claude', backend: 'claude-code', install: 'npm install -g @anthropic-ai/claude-code' },
  { name: 'codex', backend: 'codex', install: 'npm install -g @openai/codex' },
];

/** The finding about one program. */
export interface ProgramCheck {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  readonly repair?: string;
}

/** Time limit for a program to report its version, in milliseconds. */
const patienceMs = 10_000;

/** The installed programs and their versions. A missing one is not a failure: nothing else needs it. */
export async function checkPrograms(env: Environment): Promise<ProgramCheck[]> {
  const { findProgram } = await import('@cobbler/delegate');
  return Promise.all(
    programs.map(async ({ name, backend, install }): Promise<ProgramCheck> => {
      const path = findProgram(name, env);
      if (path === undefined)
        return { name, ok: true, found: `not found: --backend ${backend} needs it (${install})` };
      const version = await versionOf(path, env);
      if (version !== undefined) return { name, ok: true, found: `${version} (${path})` };
      return { name, ok: false, found: `${path} does not report its version`, repair: install };
    }),
  );
}

function versionOf(path: string, env: Environment): Promise<string | undefined> {
  return new Promise((resolve) => {
    const options = { env: childEnvironment(env), timeout: patienceMs, encoding: 'utf8' } as const;
    execFile(path, ['--version'], options, (error, stdout) => {
      const line = stdout.trim().split('\n')[0] ?? '';
      resolve(error === null && line !== '' ? line : undefined);
    });
  });
}

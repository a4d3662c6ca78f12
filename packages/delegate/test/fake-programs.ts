import { chmodSync, copyFileSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import type { Backend, DelegatePermission, ProgramOptions } from '@cobbler/delegate';
import { claudeCode, codex } from '@cobbler/delegate';

/** Fake programs `claude` and `codex` in their own directory, and a directory to work in. */
export interface FakePrograms {
  readonly area: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  /** The directory in which the programs store their conversations. */
  readonly home: string;
  readonly options: ProgramOptions;
}

const script = join(import.meta.dirname, 'fixtures', 'fake-cli.mjs');

/** Creates the programs without a test context. The caller must call `dispose`. */
export function placePrograms(): FakePrograms & { dispose(): void } {
  const area = mkdtempSync(join(tmpdir(), 'delegate-'));
  const [bin, workspace, home] = ['bin', 'workspace', 'home'].map((name) => join(area, name)) as [
    string,
    string,
    string,
  ];
  for (const folder of [bin, workspace, home]) mkdirSync(folder);
  for (const name of ['claude', 'codex']) {
    copyFileSync(script, join(bin, name));
    chmodSync(join(bin, name), 0o755);
  }
  copyFileSync(join(import.meta.dirname, 'fixtures', 'package.json'), join(bin, 'package.json'));
  const env = { PATH: [bin, dirname(process.execPath), '/usr/bin', '/bin'].join(delimiter), HOME: home };
  const options = { env, extraEnv: { FAKE_HOME: home }, graceMs: 300, retryMs: 2, sandbox: 'off' } as const;
  return {
    area,
    workspace,
    env,
    home,
    options,
    dispose: () => rmSync(area, { recursive: true, force: true }),
  };
}

/** Returns the ids of all processes whose environment belongs to the programs with this home. */
export function running(home: string): string[] {
  return readdirSync('/proc').filter((pid) => {
    if (!/^\d+$/.test(pid)) return false;
    try {
      const isZombie = /\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'));
      return !isZombie && readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`FAKE_HOME=${home}\0`);
    } catch {
      return false;
    }
  });
}

/** The names of the backends in tests. */
export const backendNames = ['claude-code', 'codex', 'codex app-server'] as const;

export type BackendName = (typeof backendNames)[number];

export function backendOf(
  name: BackendName,
  options: ProgramOptions,
  permission: DelegatePermission = 'read-only',
): Backend {
  if (name === 'claude-code') return claudeCode({ ...options, permission });
  return codex({ ...options, permission, via: name === 'codex' ? 'exec' : 'app-server' });
}

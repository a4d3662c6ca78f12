import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ProgramOptions } from '@cobbler/delegate';

/** Paths of the programs. */
export interface Programs {
  readonly claude: string;
  readonly codex: string;
}

/** The environment of a case: its own directories, and environment variables that inherit nothing. */
export interface Rig {
  readonly programs: Programs;
  readonly url: string;
  readonly area: string;
  readonly workspace: string;
  readonly env: Readonly<Record<string, string>>;
  /** Marks every process that the case starts. */
  readonly marker: string;
  readonly claude: ProgramOptions;
  readonly codex: ProgramOptions & { readonly baseUrl: string };
  /** Number of requests to the models since the case started. */
  requests(): number;
  dispose(): void;
}

const variable = 'COBBLER_CLIS_CASE';

export function makeRig(programs: Programs, url: string, log: string, name: string): Rig {
  // Codex makes no links to its helpers, which its sandbox needs, if its home is below the temporary folder. In
  // Cobbler's sandbox, that is /tmp.
  const area = mkdtempSync('/var/tmp/cobbler-clis-');
  const [workspace, home] = [join(area, 'workspace'), join(area, 'home')];
  for (const folder of [workspace, home]) mkdirSync(folder);
  // Claude Code cannot write it in the sandbox.
  writeFileSync(join(home, '.claude.json'), '{}');
  const marker = `${name.replaceAll(' ', '-')}-${process.pid}-${Math.round(performance.now())}`;
  const env = {
    PATH: [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin'].join(':'),
    HOME: home,
    LANG: 'C.UTF-8',
    TZ: 'UTC',
    ANTHROPIC_BASE_URL: url,
    ANTHROPIC_API_KEY: 'sk-ant-suite-0123456789',
    OPENAI_API_KEY: 'sk-suite-0123456789',
  };
  // Every other destination fails.
  const extraEnv = {
    [variable]: marker,
    HTTPS_PROXY: 'http://127.0.0.1:9',
    HTTP_PROXY: '',
    NO_PROXY: '127.0.0.1',
  };
  const common = { env, extraEnv, retryMs: 100, timeoutMs: 60_000 };
  const before = count(log);
  return {
    programs,
    url,
    area,
    workspace,
    env,
    marker,
    claude: { ...common, path: programs.claude },
    codex: { ...common, path: programs.codex, baseUrl: `${url}/v1` },
    requests: () => count(log) - before,
    dispose: () => rmSync(area, { recursive: true, force: true }),
  };
}

function count(log: string): number {
  return readFileSync(log, 'utf8').split('\n').length - 1;
}

/** Returns the processes whose environment contains the marker of a case, with their commands. */
export function left(marker: string): string[] {
  return readdirSync('/proc').flatMap((pid) => {
    if (!/^\d+$/.test(pid) || Number(pid) === process.pid) return [];
    try {
      if (/\) Z /.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))) return [];
      const carries = readFileSync(`/proc/${pid}/environ`, 'latin1').includes(`${variable}=${marker}\0`);
      return carries
        ? [`${pid} ${readFileSync(`/proc/${pid}/cmdline`, 'latin1').replaceAll('\0', ' ')}`]
        : [];
    } catch {
      return [];
    }
  });
}

/** Fails a case if the condition is false. */
export function expect(holds: boolean, what: string): void {
  if (!holds) throw new Error(`expected ${what}`);
}

export function expectEqual(actual: unknown, wanted: unknown, what: string): void {
  const [found, asked] = [JSON.stringify(actual), JSON.stringify(wanted)];
  if (found !== asked) throw new Error(`${what}: expected ${asked}, found ${found}`);
}

/** Waits until the condition is true. */
export async function until(holds: () => boolean, what: string, ms = 30_000): Promise<void> {
  const deadline = performance.now() + ms;
  while (!holds()) {
    if (performance.now() > deadline) throw new Error(`expected ${what} within ${ms} ms`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}

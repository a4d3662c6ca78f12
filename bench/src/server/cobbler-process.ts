import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, mkdirSync, openSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { Held } from './probe.ts';

const main = fileURLToPath(new URL('../../../apps/cli/src/main.ts', import.meta.url));
const probe = new URL('./probe.ts', import.meta.url).href;

/** A key without any access. */
const key = 'sk-ant-measured-0123456789';

/** Options of a measured server. */
export interface CobblerProcessOptions {
  /** The URL of the model. */
  readonly modelUrl: string;
  /** An empty directory for its sessions, workspace and log. */
  readonly folder: string;
  /** Additional options of `cobbler serve`. */
  readonly args?: readonly string[];
}

/** `cobbler serve` as a user starts it, in a separate process, with a mock model. */
export class CobblerProcess {
  readonly url: string;
  readonly token: string;
  readonly pid: number;
  /** The working directory of the tools. */
  readonly workspace: string;
  readonly #child: ChildProcess;
  readonly #log: string;

  private constructor(child: ChildProcess, address: string, workspace: string, log: string) {
    const [url = '', token = ''] = address.trim().split('/#token=');
    this.url = url;
    this.token = token;
    this.pid = child.pid ?? 0;
    this.workspace = workspace;
    this.#child = child;
    this.#log = log;
  }

  /**
   * Resolves when the server is listening.
   * @throws Error with its output if it does not start.
   */
  static async start({ modelUrl, folder, args = [] }: CobblerProcessOptions): Promise<CobblerProcess> {
    const workspace = join(folder, 'workspace');
    mkdirSync(workspace);
    const log = join(folder, 'server.log');
    const logFile = openSync(log, 'w');
    const flags = ['--expose-gc', '--import', probe, '--conditions=@cobbler/source'];
    const child = spawn(
      process.execPath,
      [...flags, '--disable-warning=ExperimentalWarning', main, 'serve', '--port', '0', ...args],
      { cwd: workspace, env: environment(modelUrl, folder), stdio: ['ignore', 'pipe', logFile, 'ipc'] },
    );
    closeSync(logFile);
    if (child.stdout === null) throw new Error('The server has no output.');
    const ended = once(child, 'exit').then(() => undefined);
    const line = await Promise.race([once(createInterface(child.stdout), 'line'), ended]);
    if (line === undefined) throw new Error(`The server did not start:\n${readFileSync(log, 'utf8')}`);
    return new CobblerProcess(child, String(line[0]), workspace, log);
  }

  get isAlive(): boolean {
    return this.#child.exitCode === null && this.#child.signalCode === null;
  }

  /** The last lines of its log. */
  get lastWords(): string {
    return readFileSync(this.#log, 'utf8').split('\n').slice(-15).join('\n');
  }

  /** Returns the memory that it uses after garbage collection. */
  async held(): Promise<Held> {
    const told = once(this.#child, 'message', { signal: AbortSignal.timeout(30_000) });
    this.#child.send('held');
    const [held] = (await told) as [Held];
    return held;
  }

  /** Returns the targets of its file descriptors. Linux only. */
  descriptors(): string[] {
    const folder = `/proc/${this.pid}/fd`;
    return readdirSync(folder).flatMap((name) => {
      try {
        return [readlinkSync(join(folder, name))];
      } catch {
        // Closed since it was listed.
        return [];
      }
    });
  }

  /** Returns the CPU time used so far, in milliseconds. Linux only. */
  cpuMs(): number {
    const [, fields = ''] = readFileSync(`/proc/${this.pid}/stat`, 'utf8').split(') ');
    const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number);
    return (user + system) * 10;
  }

  /** Stops the server, by default gracefully. */
  async stop(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    if (!this.isAlive) return;
    const gone = once(this.#child, 'exit');
    this.#child.kill(signal);
    const late = setTimeout(() => this.#child.kill('SIGKILL'), 40_000);
    await gone;
    clearTimeout(late);
  }
}

function environment(modelUrl: string, folder: string): NodeJS.ProcessEnv {
  const { PATH = '' } = process.env;
  return {
    PATH,
    HOME: folder,
    LANG: 'C.UTF-8',
    COBBLER_HOME: join(folder, 'home'),
    ANTHROPIC_API_KEY: key,
    ANTHROPIC_BASE_URL: modelUrl,
    COBBLER_MODEL: 'claude:claude-test',
    NODE_COMPILE_CACHE: join(tmpdir(), 'cobbler-test-compiled'),
    // Return freed memory to the system, so that resident memory shows what is in use. Otherwise glibc raises these
    // thresholds to the largest chunk that was ever freed, and keeps the holes.
    MALLOC_MMAP_THRESHOLD_: '131072',
    MALLOC_TRIM_THRESHOLD_: '131072',
    MALLOC_ARENA_MAX: '2',
  };
}

import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** The result of a process. */
export interface Ended {
  readonly code: number | null;
  readonly signal: NodeJS.Signals | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface BinaryOptions {
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
  /** Piped input. Default: none, as from /dev/null. */
  readonly input?: string | Uint8Array;
  /** Called with each chunk of output. */
  readonly onOutput?: (text: string, child: ChildProcess) => void;
}

const sources = fileURLToPath(new URL('../../src/main.ts', import.meta.url));

/** The command that starts the CLI: the bundle that `bundled.ts` built, or the sources. */
export const command: readonly string[] = [
  process.execPath,
  '--conditions=@cobbler/source',
  '--disable-warning=ExperimentalWarning',
  process.env['COBBLER_TEST_MAIN'] ?? sources,
];

/** Compile cache of Node, because stripping types takes most of a start. */
const compiled = join(tmpdir(), 'cobbler-test-compiled');

/** Returns a minimal environment with a home directory that does not exist. */
export function bareEnvironment(env: Readonly<Record<string, string>> = {}): Record<string, string> {
  const { PATH = '' } = process.env;
  // A machine without bubblewrap must give the same results, and the sandbox has tests of its own.
  const own = { COBBLER_SANDBOX: 'off', NODE_COMPILE_CACHE: compiled };
  return { PATH, HOME: '/nonexistent', LANG: 'C.UTF-8', TERM: 'xterm', ...own, ...env };
}

/** Runs the CLI in its own process, as a user's shell does. */
export function cobbler(args: readonly string[], options: BinaryOptions = {}): Promise<Ended> {
  const [program = '', ...flags] = command;
  const child = spawn(program, [...flags, ...args], {
    cwd: options.cwd,
    env: bareEnvironment(options.env),
    stdio: [options.input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
  });
  return ended(child, options);
}

/** Waits for a process and collects its output. */
export function ended(
  child: ChildProcess,
  options: Pick<BinaryOptions, 'input' | 'onOutput'> = {},
): Promise<Ended> {
  const output = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const) {
    child[name]?.setEncoding('utf8').on('data', (text: string) => {
      output[name] += text;
      options.onOutput?.(text, child);
    });
  }
  if (options.input !== undefined) child.stdin?.end(options.input);
  return new Promise((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal, ...output }));
  });
}

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { defined } from '@cobbler/agent/values';
import type { Done, Job } from './job.ts';
import type { Received } from './model-server.ts';

/** Where the measured programs are. */
export interface Programs {
  /** The measured process and the model server, built: reading TypeScript would cost them time and memory. */
  readonly child: string;
  readonly serve: string;
  /** Flags of Node for both, such as conditions. */
  readonly flags: readonly string[];
}

/** The model server in its own process. */
export interface ServerProcess {
  url(work: string, job: string): string;
  received(job: string): Promise<Received>;
  stop(): void;
}

/** Nothing of the user's settings may change a figure: no proxy, no key, no flags of Node. */
function bareEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return { PATH, HOME, ...defined({ TMPDIR }), ...more };
}

/** Starts the model server; it ends with this process. */
export async function startServer(programs: Programs): Promise<ServerProcess> {
  const server = spawn(process.execPath, [...programs.flags, programs.serve], {
    stdio: ['pipe', 'pipe', 'inherit'],
    env: bareEnvironment(),
  });
  const [origin] = (await once(createInterface(server.stdout), 'line')) as [string];
  return {
    url: (work, job) => `${origin}/${work}/${job}`,
    received: async (job) => (await (await fetch(`${origin}/${job}`)).json()) as Received,
    stop: () => void server.kill(),
  };
}

/** One measured process to be run. */
export interface Launch {
  readonly programs: Programs;
  readonly job: Job;
}

/**
 * Runs one job in a process of its own.
 * @throws Error with what the process said when it fails.
 */
export async function runJob({ programs, job }: Launch): Promise<Done> {
  const args = ['--expose-gc', ...programs.flags, programs.child, JSON.stringify(job)];
  const { code, stdout, stderr } = await runProgram(args);
  if (code !== 0)
    throw new Error(`${job.contestant} failed:\n${stderr.trim().split('\n').slice(-15).join('\n')}`);
  return JSON.parse(stdout) as Done;
}

/** How a program ended and what it said. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Longest that one process may take, in milliseconds. */
const patienceMs = 300_000;

/** Runs Node with these arguments, in a bare environment, to its end. */
export async function runProgram(
  args: readonly string[],
  more: { readonly env?: Readonly<Record<string, string>>; readonly cwd?: string } = {},
): Promise<Ended> {
  const child = spawn(process.execPath, args, {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: bareEnvironment(more.env),
    timeout: patienceMs,
    ...defined({ cwd: more.cwd }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    stdout += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const [code] = (await once(child, 'close')) as [number | null];
  return { code, stdout, stderr };
}

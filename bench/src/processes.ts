import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { defined } from '@cobbler/agent/values';
import type { Done, Job } from './job.ts';
import type { Received } from './model-server.ts';
import type { WaitingJob } from './waiting.ts';

/** The measured programs. */
export interface Programs {
  /** The built files of the measured process and the model server: loading TypeScript would cost time and memory. */
  readonly child: string;
  readonly serve: string;
  /** Node flags for both, such as conditions. */
  readonly flags: readonly string[];
}

/** The model server in a separate process. */
export interface ServerProcess {
  url(work: string, job: string): string;
  received(job: string): Promise<Received>;
  stop(): void;
}

/**
 * Returns an environment without the user's settings, which could affect the results: no proxy, no key, no Node
 * flags.
 */
function bareEnvironment(more: Readonly<Record<string, string>> = {}): NodeJS.ProcessEnv {
  const { PATH = '', HOME = '', TMPDIR } = process.env;
  return { PATH, HOME, ...defined({ TMPDIR }), ...more };
}

/** Starts the model server, which ends together with this process. */
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

/** The launch of a measured process. */
export interface Launch<AnyJob = Job> {
  readonly programs: Programs;
  readonly job: AnyJob;
}

/**
 * Runs one job in a separate process.
 * @throws Error with the output of the process if it fails.
 */
export async function runJob(launch: Launch): Promise<Done> {
  return (await measured(launch)) as Done;
}

/**
 * Returns the heap that each of many waiting runs takes in a separate process, in bytes.
 * @throws Error with the output of the process if it fails.
 */
export async function runWaiting(launch: Launch<WaitingJob>): Promise<number> {
  const { heapBytes } = (await measured(launch)) as { heapBytes: number };
  return heapBytes;
}

async function measured({ programs, job }: Launch<Job | WaitingJob>): Promise<unknown> {
  const args = ['--expose-gc', ...programs.flags, programs.child, JSON.stringify(job)];
  const { code, stdout, stderr } = await runProgram(args);
  if (code !== 0)
    throw new Error(`${job.contestant} failed:\n${stderr.trim().split('\n').slice(-15).join('\n')}`);
  return JSON.parse(stdout);
}

/** The exit of a program and its output. */
export interface Ended {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Time limit for one process, in milliseconds. */
const patienceMs = 300_000;

/** Runs Node with these arguments in a bare environment until it ends. */
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

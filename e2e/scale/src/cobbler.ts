import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The command as npm installed it from the packed tarball. */
const command = process.env['COBBLER_BIN'];

/** Time limit for a process to stop, in milliseconds. */
const stopMs = 10_000;

/** Options of every Cobbler process of a scene. */
export interface CobblerOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A running `cobbler serve`, and a client of its HTTP API. */
export interface Cobbler {
  readonly name: string;
  readonly url: string;
  /** Its standard error output so far. */
  log(): string;
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** Opens an event stream, through the proxy at the given address if there is one. */
  stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    front?: string,
  ): Promise<Response>;
  /** Kills it, like a power failure. */
  kill(): Promise<void>;
  /** Stops it, and kills it if it does not end in time. */
  stop(): Promise<void>;
}

export interface AskOptions {
  readonly body?: unknown;
  readonly key?: string;
}

export interface Answer {
  readonly status: number;
  readonly json: Readonly<Record<string, unknown>>;
}

/** The error of a process that ended before it listened. */
export class NotServing extends Error {
  readonly code: number | null;
  readonly stderr: string;

  constructor(name: string, code: number | null, stderr: string) {
    super(`cobbler serve ${name} exited with ${code} before it listened:\n${stderr}`);
    this.code = code;
    this.stderr = stderr;
  }
}

/** Starts the installed `cobbler serve` in a separate process. @throws NotServing */
export async function startCobbler(name: string, { args, env, cwd }: CobblerOptions): Promise<Cobbler> {
  if (command === undefined)
    throw new Error('COBBLER_BIN is not set. Start this suite with: npm run verify -- scale');
  const port = args.includes('--port') ? [] : ['--port', '0'];
  const child = spawn(process.execPath, [command, 'serve', ...port, ...args], {
    cwd,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      PATH: process.env['PATH'] ?? '',
      LANG: 'C.UTF-8',
      COBBLER_PROOF_NAME: name,
      ...env,
    },
  });
  let stderr = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const line = await firstLine(child);
  if (line === undefined) throw new NotServing(name, child.exitCode, stderr);
  const { origin, hash } = new URL(line);
  const authorization = `Bearer ${hash.replace('#token=', '')}`;
  return {
    name,
    url: origin,
    log: () => stderr,
    async ask(method, path, { body, key } = {}) {
      const response = await fetch(`${origin}${path}`, {
        method,
        headers: {
          authorization,
          'content-type': 'application/json',
          ...(key !== undefined && { 'idempotency-key': key }),
        },
        ...(body !== undefined && { body: JSON.stringify(body) }),
      });
      const text = await response.text();
      return { status: response.status, json: text === '' ? {} : JSON.parse(text) };
    },
    stream: (path, headers, signal, front = origin) =>
      fetch(`${front}${path}`, { headers: { authorization, ...headers }, signal }),
    kill: () => ended(child, 'SIGKILL'),
    async stop() {
      const late = setTimeout(() => child.kill('SIGKILL'), stopMs);
      await ended(child, 'SIGTERM');
      clearTimeout(late);
    },
  };
}

/** Resolves with the first line of standard output; with undefined if the process ends without one. */
function firstLine(child: ChildProcess): Promise<string | undefined> {
  return new Promise((resolve) => {
    let text = '';
    child.once('close', () => resolve(undefined));
    child.stdout?.setEncoding('utf8').on('data', (piece: string) => {
      text += piece;
      const end = text.indexOf('\n');
      if (end !== -1) resolve(text.slice(0, end));
    });
  });
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  child.kill(signal);
  await exit;
}

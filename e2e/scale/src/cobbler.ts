import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { once } from 'node:events';

/** The command as npm installed it from the packed tarball. */
const command = process.env['COBBLER_BIN'];

/** How long a process that was told to stop may take, in milliseconds. */
const stopMs = 10_000;

/** What every Cobbler process of a scene is started with. */
export interface CobblerOptions {
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
}

/** A `cobbler serve` that listens, and a client of its HTTP API. */
export interface Cobbler {
  readonly name: string;
  readonly url: string;
  /** What it wrote on standard error so far. */
  log(): string;
  ask(method: string, path: string, options?: AskOptions): Promise<Answer>;
  /** Opens a stream of events, at what is in front of it if that is named. */
  stream(
    path: string,
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
    front?: string,
  ): Promise<Response>;
  /** Ends it as a power cut does. */
  kill(): Promise<void>;
  /** Tells it to stop, and kills it if it does not. */
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

/** How a process ended that did not come to listen. */
export class NotServing extends Error {
  readonly code: number | null;
  readonly stderr: string;

  constructor(name: string, code: number | null, stderr: string) {
    super(`cobbler serve ${name} ended with ${code} before it listened:\n${stderr}`);
    this.code = code;
    this.stderr = stderr;
  }
}

/** Starts the installed `cobbler serve` as a process of its own. @throws NotServing */
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

/** The first line of standard output, or nothing when the process ends without one. */
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

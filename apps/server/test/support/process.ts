import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Event } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { fullMark } from './full-mark.ts';
import { ownPort } from './own-port.ts';

const program = fileURLToPath(new URL('./serving.ts', import.meta.url));

/** A server in a process of its own, which can be killed and started again over the same sessions and port. */
export class ServerProcess {
  readonly file: string;
  readonly #folder: string;
  url = '';
  token = '';
  #tokens: string | undefined;
  #child: ChildProcess | undefined;

  readonly #paceMs: number;

  /** `paceMs` is how long its model takes before each answer. */
  constructor({ paceMs = 0 }: { readonly paceMs?: number } = {}) {
    this.#paceMs = paceMs;
    this.#folder = mkdtempSync(join(tmpdir(), 'cobbler-server-'));
    this.file = join(this.#folder, 'sessions.db');
  }

  /** Ends it and takes its files away. */
  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts it, at the port it had before. Resolves when it listens. */
  async start(): Promise<void> {
    const port = this.url === '' ? String(await ownPort()) : new URL(this.url).port;
    const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
    const child = spawn(process.execPath, [...flags, program, this.file, port], {
      stdio: ['ignore', 'pipe', 'inherit'],
      env: {
        ...process.env,
        PACE_MS: String(this.#paceMs),
        NODE_COMPILE_CACHE: join(tmpdir(), 'cobbler-test-compiled'),
        ...(this.#tokens !== undefined && { TOKEN_FILE_TEXT: this.#tokens }),
      },
    });
    this.#child = child;
    const line = await new Promise<string>((resolve, reject) => {
      child.stdout.setEncoding('utf8').once('data', resolve);
      child.once('exit', (code) => reject(new Error(`the server ended with ${code}`)));
    });
    const said = JSON.parse(line) as { url: string; token: string; tokens: string };
    this.url = said.url;
    this.token = said.token;
    this.#tokens = said.tokens;
  }

  /** Kills it, by default without any warning. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  /** From now on its store refuses what is appended, or takes it again. */
  refuse(isFull: boolean): void {
    if (isFull) writeFileSync(fullMark(this.file), '');
    else rmSync(fullMark(this.file), { force: true });
  }

  /** The log of a session, read from the file. */
  async log(sessionId: string): Promise<readonly Event[]> {
    const store = sqliteStore(this.file);
    try {
      return await store.read(sessionId);
    } finally {
      await store.close();
    }
  }
}

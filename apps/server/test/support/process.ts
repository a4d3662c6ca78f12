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

/** A server in a separate process that can be killed and restarted with its sessions and port. */
export class ServerProcess {
  readonly file: string;
  readonly #folder: string;
  url = '';
  token = '';
  #tokens: string | undefined;
  #child: ChildProcess | undefined;

  readonly #paceMs: number;

  /** `paceMs` is the delay of the model before each response. */
  constructor({ paceMs = 0 }: { readonly paceMs?: number } = {}) {
    this.#paceMs = paceMs;
    this.#folder = mkdtempSync(join(tmpdir(), 'cobbler-server-'));
    this.file = join(this.#folder, 'sessions.db');
  }

  /** Kills the process and deletes its files. */
  async dispose(): Promise<void> {
    await this.kill();
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Starts the process on the same port as before. Resolves when it listens. */
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
      child.once('exit', (code) => reject(new Error(`the server exited with ${code}`)));
    });
    const said = JSON.parse(line) as { url: string; token: string; tokens: string };
    this.url = said.url;
    this.token = said.token;
    this.#tokens = said.tokens;
  }

  /** Ends the process, by default with SIGKILL. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const child = this.#child;
    this.#child = undefined;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    const gone = new Promise((resolve) => child.once('exit', resolve));
    child.kill(signal);
    await gone;
  }

  /** Makes the store reject or accept appends from now on. */
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

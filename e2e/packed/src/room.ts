import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';

/** The exit code and the output of a program. */
export interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Options for starting a program. */
export interface Start {
  /** The directory of the `node` that it finds. */
  readonly bin: string;
  /** Working directory. Default: the directory of the room. */
  readonly cwd?: string;
  readonly timeoutMs?: number;
  /** True to pass the machine's proxy and certificates. Default: false. */
  readonly network?: boolean;
}

const networkVariables = /^(https?_proxy|no_proxy|node_extra_ca_certs|ssl_cert_(file|dir))$/i;

/**
 * A directory outside of any project, with its own home. Programs in it know nothing of the machine except a PATH with
 * one Node and npm.
 */
export class Room {
  readonly folder: string;
  readonly #root: string;
  readonly #npm: string;

  /** @param npm the directory that contains the npm program */
  constructor(npm: string) {
    this.#root = mkdtempSync(join(tmpdir(), 'cobbler-packed-'));
    this.#npm = npm;
    this.folder = join(this.#root, 'app');
    for (const name of ['home', 'app', 'elsewhere']) mkdirSync(join(this.#root, name));
  }

  /** Creates an empty directory next to the other. */
  get elsewhere(): string {
    return join(this.#root, 'elsewhere');
  }

  write(name: string, text: string): void {
    mkdirSync(dirname(join(this.folder, name)), { recursive: true });
    writeFileSync(join(this.folder, name), text);
  }

  environment({ bin, network = false }: Start): NodeJS.ProcessEnv {
    const path = [bin, this.#npm, '/usr/bin', '/bin'].join(delimiter);
    const known = Object.entries(process.env).filter(([name]) => network && networkVariables.test(name));
    // The certificates of the machine, because a Node from npm trusts only its own list, without those of a proxy.
    const trust = network ? { NODE_USE_SYSTEM_CA: '1' } : {};
    return { ...Object.fromEntries(known), ...trust, HOME: join(this.#root, 'home'), PATH: path };
  }

  /** Starts a program that runs until it is stopped. */
  start(program: string, args: readonly string[], start: Start): ChildProcess {
    const { cwd = this.folder } = start;
    return spawn(program, args, { cwd, env: this.environment(start), stdio: ['ignore', 'pipe', 'inherit'] });
  }

  /** Runs a program until it ends. A program that takes too long is killed, and its code is 124. */
  run(program: string, args: readonly string[], start: Start): Promise<Outcome> {
    const { cwd = this.folder, timeoutMs = 300_000 } = start;
    return new Promise((resolve, reject) => {
      const env = this.environment(start);
      const child = spawn(program, args, { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
      let stdout = '';
      let stderr = '';
      let late = false;
      child.stdout.setEncoding('utf8').on('data', (text: string) => {
        stdout += text;
      });
      child.stderr.setEncoding('utf8').on('data', (text: string) => {
        stderr += text;
      });
      const timer = setTimeout(() => {
        late = true;
        child.kill('SIGKILL');
      }, timeoutMs);
      child.on('error', reject);
      child.on('close', (code) => {
        clearTimeout(timer);
        resolve({ code: late ? 124 : (code ?? 1), stdout, stderr });
      });
    });
  }

  /**
   * Runs a program that must succeed.
   *
   * @throws Error with the last lines of its output
   */
  async must(program: string, args: readonly string[], start: Start): Promise<Outcome> {
    const outcome = await this.run(program, args, start);
    if (outcome.code === 0) return outcome;
    const said = `${outcome.stdout}\n${outcome.stderr}`.trim().split('\n').slice(-12).join('\n');
    throw new Error(`${[program, ...args].join(' ')} exited with ${outcome.code}:\n${said}`);
  }

  remove(): void {
    rmSync(this.#root, { recursive: true, force: true });
  }
}

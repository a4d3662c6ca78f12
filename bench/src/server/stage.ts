import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './built.ts';
import { Caller } from './caller.ts';
import { ChildTalk } from './child-talk.ts';

/** The measured server: Cobbler, or the minimum that serves events. */
export type SubjectName = 'cobbler' | 'raw';

/** The message of a server when it is listening. */
interface Address {
  readonly url: string;
  readonly token: string;
  readonly path: string;
}

/** The memory of a process in bytes. */
export type Memory = Pick<NodeJS.MemoryUsage, 'rss' | 'heapUsed'>;

/** A server in one process and its readers in another. */
export class Stage {
  readonly address: Address;
  readonly caller: Caller;
  readonly #server: ChildTalk;
  readonly #clients: ChildTalk;

  private constructor(address: Address, server: ChildTalk, clients: ChildTalk) {
    this.address = address;
    this.caller = new Caller(address);
    this.#server = server;
    this.#clients = clients;
  }

  /** @param prepare writes data to the server's directory before it starts. */
  static async open(
    name: SubjectName,
    programs: Programs,
    home: string,
    prepare: (folder: string) => Promise<void> = async () => undefined,
  ): Promise<Stage> {
    const folder = mkdtempSync(join(home, `${name}-`));
    await prepare(folder);
    const [server, address] = await ChildTalk.start<Address>(programs.measured, [name, folder]);
    const [clients] = await ChildTalk.start(programs.clients, []);
    const stage = new Stage(address, server, clients);
    if (name === 'cobbler') await stage.makeSession('watched');
    return stage;
  }

  /** Creates a session with one prompt. */
  async makeSession(id: string): Promise<void> {
    await this.caller.ask('POST', '/v1/sessions', { id });
    await this.prompt(id, 'say 100');
    const watcher = await this.caller.watch(`/v1/sessions/${id}/events`);
    await watcher.untilFinished(1);
    watcher.drop();
  }

  async prompt(id: string, content: string): Promise<void> {
    const { status, text } = await this.caller.ask('POST', `/v1/sessions/${id}/prompt`, { content });
    if (status !== 202) throw new Error(`The response to a prompt has status ${status}: ${text}`);
  }

  /** Opens this many streams, alternating between these paths. */
  async watch(count: number, paths: readonly string[] = [this.address.path]): Promise<void> {
    await this.#clients.ask({ what: 'open', ...this.address, paths, count });
  }

  /** Closes all streams and waits until the server has noticed. */
  async unwatch(): Promise<void> {
    await this.#clients.ask({ what: 'close' });
    this.caller.release();
    for (let calm = 0, last = -1; calm < 4; ) {
      const now = this.descriptors();
      calm = now === last ? calm + 1 : 0;
      last = now;
      await pause(250);
    }
  }

  /** Returns the server's memory after garbage collection. */
  held(): Promise<Memory> {
    return this.#server.ask<Memory>({ what: 'held' });
  }

  /** Returns the server's CPU time in microseconds for sending this many frames to all readers. */
  tell(frames: number, everyMs: number): Promise<number> {
    return this.#server.ask<number>({ what: 'tell', frames, everyMs });
  }

  /** Returns the bytes that the readers have received since the last call. */
  bytes(): Promise<number> {
    return this.#clients.ask<number>({ what: 'bytes' });
  }

  /** Returns the number of open descriptors of the server. Linux only. */
  descriptors(): number {
    return readdirSync(`/proc/${this.#server.pid}/fd`).length;
  }

  async close(): Promise<void> {
    this.caller.release();
    await Promise.all([this.#clients.end(), this.#server.end()]);
  }
}

export function pause(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

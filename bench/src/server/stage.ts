import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import type { Programs } from './built.ts';
import { Caller } from './caller.ts';
import { ChildTalk } from './child-talk.ts';

/** What is measured: the server of Cobbler, or the least that serves events. */
export type SubjectName = 'cobbler' | 'raw';

/** What a server says of itself when it listens. */
interface Address {
  readonly url: string;
  readonly token: string;
  readonly path: string;
}

/** What a process holds, bytes. */
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

  /** @param prepare puts something into the folder of the server before it starts. */
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

  /** Makes a session in which something was said. */
  async makeSession(id: string): Promise<void> {
    await this.caller.ask('POST', '/v1/sessions', { id });
    await this.prompt(id, 'say 100');
    const watcher = await this.caller.watch(`/v1/sessions/${id}/events`);
    await watcher.untilFinished(1);
    watcher.drop();
  }

  async prompt(id: string, content: string): Promise<void> {
    const { status, text } = await this.caller.ask('POST', `/v1/sessions/${id}/prompt`, { content });
    if (status !== 202) throw new Error(`A prompt was answered with ${status}: ${text}`);
  }

  /** Opens so many streams, one after another on these paths. */
  async watch(count: number, paths: readonly string[] = [this.address.path]): Promise<void> {
    await this.#clients.ask({ what: 'open', ...this.address, paths, count });
  }

  /** Closes all streams and waits until the server knows. */
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

  /** What the server holds after its garbage is taken away. */
  held(): Promise<Memory> {
    return this.#server.ask<Memory>({ what: 'held' });
  }

  /** Microseconds of CPU that it takes the server to tell so many frames to all who watch. */
  tell(frames: number, everyMs: number): Promise<number> {
    return this.#server.ask<number>({ what: 'tell', frames, everyMs });
  }

  /** Bytes that came to the readers since the last time. */
  bytes(): Promise<number> {
    return this.#clients.ask<number>({ what: 'bytes' });
  }

  /** Open descriptors of the server. Linux only. */
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

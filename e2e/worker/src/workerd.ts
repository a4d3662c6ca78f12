import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Request as MiniflareRequest, V4MiniflareOptions } from 'miniflare';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';

/** Asks a worker something, as JSON. */
export type Door = (path: string, body: unknown) => Promise<unknown>;

/** The app's own. */
const compatibilityDate = '2026-11-01';

/** Puts a worker and all that it imports, from the sources, into one text. */
export async function bundled(file: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file.pathname],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@cobbler/source', 'workerd', 'worker', 'browser'],
    // What a testing entry has of Node falls away with what is not used of it.
    external: ['cloudflare:*', 'node:*'],
    target: 'es2024',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

const sqlHost = 'sql.invalid';

/** A worker with the database of another, for whoever stands outside. */
export function sqlDoor(d1Databases: Readonly<Record<string, string>>): WorkerSettings {
  const script = `export default {
    async fetch(request, { DB }) {
      let rows = [];
      for (const text of await request.json()) rows = (await DB.prepare(text).all()).results;
      return Response.json(rows);
    },
  };`;
  return { name: 'sql', script, d1Databases, routes: [`${sqlHost}/*`] };
}

/** As Miniflare has them. */
export interface WorkerSettings {
  readonly name: string;
  readonly script: string;
  readonly routes?: readonly string[];
  readonly bindings?: Readonly<Record<string, string>>;
  readonly d1Databases?: Readonly<Record<string, string>>;
  readonly workflows?: Readonly<Record<string, { readonly name: string; readonly className: string }>>;
  readonly serviceBindings?: Readonly<Record<string, { readonly name: string; readonly entrypoint: string }>>;
}

/** Miniflare's type of a worker stands on types that are not here. */
interface Scheduled {
  scheduled(event: { readonly cron: string; readonly scheduledTime: Date }): Promise<unknown>;
}

/** A workerd that can be killed and goes on with what it kept. */
export class Workerd {
  readonly folder: string;
  readonly #workers: readonly object[];
  #miniflare: Miniflare;

  private constructor(folder: string, workers: readonly object[]) {
    this.folder = folder;
    this.#workers = workers;
    this.#miniflare = this.#start();
  }

  /** The first of the workers is the one that is asked. */
  static async start(...workers: readonly WorkerSettings[]): Promise<Workerd> {
    const workerd = new Workerd(await mkdtemp(join(tmpdir(), 'cobbler-workerd-')), workers);
    await workerd.#miniflare.ready;
    return workerd;
  }

  /** The process dies as by kill -9. */
  async kill(): Promise<void> {
    await this.#miniflare.dispose();
  }

  /** Another process takes its place. */
  async begin(): Promise<void> {
    this.#miniflare = this.#start();
    await this.#miniflare.ready;
  }

  async fetch(url: string, init?: RequestInit): Promise<Response> {
    const response = await this.#miniflare.dispatchFetch(
      url,
      init as ConstructorParameters<typeof MiniflareRequest>[1],
    );
    return new Response(response.body as ReadableStream | null, {
      status: response.status,
      headers: Object.fromEntries(response.headers),
    });
  }

  /**
   * Runs statements in the database that the first worker has, by a door of their own: Miniflare's way to a binding
   * stops this whole process until it is answered, and with it whoever the worker is just waiting for.
   */
  async sql(...texts: readonly string[]): Promise<Record<string, unknown>[]> {
    const response = await this.fetch(`http://${sqlHost}/`, { method: 'POST', body: JSON.stringify(texts) });
    if (!response.ok) throw new Error(await response.text());
    return (await response.json()) as Record<string, unknown>[];
  }

  readonly door: Door = async (path, body) => {
    const init = { method: 'POST', body: JSON.stringify(body) };
    const response = await this.fetch(`http://worker.invalid${path}`, init);
    if (!response.ok) throw new Error(await response.text());
    return await response.json();
  };

  async scheduled(cron: string): Promise<void> {
    const worker = (await this.#miniflare.getWorker()) as unknown as Scheduled;
    await worker.scheduled({ cron, scheduledTime: new Date() });
  }

  async dispose(): Promise<void> {
    await this.#miniflare.dispose();
    rmSync(this.folder, { recursive: true, force: true });
  }

  #start(): Miniflare {
    const options = {
      cf: false,
      log: new Log(LogLevel.ERROR),
      resourcePersistencePath: this.folder,
      workers: this.#workers.map((worker) => ({ modules: true, compatibilityDate, ...worker })),
    };
    return new Miniflare(convertV4MiniflareOptions(options as V4MiniflareOptions));
  }
}

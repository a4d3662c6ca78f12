import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Request as MiniflareRequest, V4MiniflareOptions } from 'miniflare';
import { convertV4MiniflareOptions, Log, LogLevel, Miniflare } from 'miniflare';

/** Sends JSON to a route of a worker. */
export type Door = (path: string, body: unknown) => Promise<unknown>;

/** The same date as in the app. */
const compatibilityDate = '2026-11-01';

/** Bundles a worker and everything that it imports from the sources. */
export async function bundled(file: URL): Promise<string> {
  const { outputFiles } = await build({
    entryPoints: [file.pathname],
    bundle: true,
    write: false,
    format: 'esm',
    platform: 'neutral',
    mainFields: ['module', 'main'],
    conditions: ['@cobbler/source', 'workerd', 'worker', 'browser'],
    // Imports of Node modules in a testing entry are removed together with the unused code.
    external: ['cloudflare:*', 'node:*'],
    target: 'es2024',
    logLevel: 'silent',
  });
  return outputFiles[0]?.text ?? '';
}

const sqlHost = 'sql.invalid';

/** Returns a worker that gives tests access to the database of another one. */
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

/** Settings in the format of Miniflare. */
export interface WorkerSettings {
  readonly name: string;
  readonly script: string;
  readonly routes?: readonly string[];
  readonly bindings?: Readonly<Record<string, string>>;
  readonly d1Databases?: Readonly<Record<string, string>>;
  readonly workflows?: Readonly<Record<string, { readonly name: string; readonly className: string }>>;
  readonly serviceBindings?: Readonly<Record<string, { readonly name: string; readonly entrypoint: string }>>;
}

/** Miniflare's type of a worker depends on types that are not installed here. */
interface Scheduled {
  scheduled(event: { readonly cron: string; readonly scheduledTime: Date }): Promise<unknown>;
}

/** A workerd that can be killed and then continues with its stored data. */
export class Workerd {
  readonly folder: string;
  readonly #workers: readonly object[];
  #miniflare: Miniflare;

  private constructor(folder: string, workers: readonly object[]) {
    this.folder = folder;
    this.#workers = workers;
    this.#miniflare = this.#start();
  }

  /** Starts the workers; the first one receives the requests. */
  static async start(...workers: readonly WorkerSettings[]): Promise<Workerd> {
    const workerd = new Workerd(await mkdtemp(join(tmpdir(), 'cobbler-workerd-')), workers);
    await workerd.#miniflare.ready;
    return workerd;
  }

  /** Kills the process, like kill -9. */
  async kill(): Promise<void> {
    await this.#miniflare.dispose();
  }

  /** Starts another process. */
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
   * Runs statements in the first worker's database, through a separate worker: Miniflare's access to a binding blocks
   * this whole process until the response arrives, and with it the server that the worker may be waiting for.
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

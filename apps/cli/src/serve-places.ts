import { resolve } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import type { Elsewhere, SessionSettings } from '@cobbler/server';
import type { Io } from './io.ts';
import { ownVersion } from './own-version.ts';
import type { ServeFlags } from './serve-flags.ts';
import { UsageError } from './usage-error.ts';

/** Where a server's sessions are kept, and where their runs are done when that is not here. */
export interface ServePlaces {
  readonly store: SessionStore;
  /** In words for people, without a password. */
  readonly name: string;
  /** Makes the place where runs are done, if that is elsewhere. */
  open(settings: (sessionId: string) => SessionSettings): Promise<Elsewhere | undefined>;
  close(): Promise<void>;
}

/** Where Restate answers unless told otherwise. */
const usualIngress = 'http://127.0.0.1:8080';
const usualAdmin = 'http://127.0.0.1:9070';

/**
 * The places that the options of `cobbler serve` name. What a place needs is loaded when it is chosen.
 * @throws UsageError for a runner without a store that others can reach.
 */
export async function servePlaces(flags: ServeFlags, usualFile: string, io: Io): Promise<ServePlaces> {
  const url = postgresUrl(flags.store);
  if (url !== undefined) return await inPostgres(url, flags);
  if (flags.runner !== undefined) {
    throw new UsageError(
      `--runner ${flags.runner} needs a store that all processes share.`,
      'Such as: cobbler serve --runner restate --store postgres://user@host/database',
    );
  }
  const file = flags.store === undefined ? usualFile : resolve(io.cwd(), flags.store);
  const store = sqliteStore(file);
  return { store, name: file, open: async () => undefined, close: () => store.close() };
}

function postgresUrl(store: string | undefined): URL | undefined {
  if (store === undefined || !/^postgres(ql)?:\/\//.test(store)) return undefined;
  const url = URL.parse(store);
  if (url !== null) return url;
  throw new UsageError('--store is no address of a database.', 'Such as: postgres://user@host:5432/database');
}

async function inPostgres(url: URL, { runner, restate }: ServeFlags): Promise<ServePlaces> {
  const { postgresStore } = await import('@cobbler/store-postgres');
  const exclusion = runner === undefined ? 'lease' : 'runner';
  const store = postgresStore({ url: url.href, exclusion });
  const shown = new URL(url);
  shown.password = '';
  let closeRunner = async () => {};
  return {
    store,
    name: shown.href,
    async open(settings) {
      const watch = (listener: (sessionId: string) => void) =>
        store.watch((sessionId) => listener(sessionId));
      if (runner === undefined) return undefined;
      const [{ restateRunner }, { sessionWork }] = await Promise.all([
        import('@cobbler/runner-restate'),
        import('@cobbler/server'),
      ]);
      const engine = restateRunner({
        routine: sessionWork(store, settings),
        ingress: restate.ingress ?? usualIngress,
        admin: restate.admin ?? usualAdmin,
        host: restate.host,
        port: restate.port,
        reusePort: restate.address === undefined && restate.port !== 0,
        // Runs under way are gone on with by the same version only: another may do other things.
        version: ownVersion(),
        ...(restate.address !== undefined && { address: restate.address }),
      });
      closeRunner = () => engine.close();
      await engine.ready();
      return { runner: engine, watch };
    },
    async close() {
      await closeRunner();
      await store.close();
    },
  };
}

import { resolve } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { Elsewhere, SessionSettings } from '@cobbler/server';
import type { PostgresStore } from '@cobbler/store-postgres';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { RestateFlags, ServeFlags } from './serve-flags.ts';

/** The store of a server's sessions, and the runner if another process executes the runs. */
export interface ServePlaces {
  readonly store: SessionStore;
  /** The name for display, without a password. */
  readonly name: string;
  /** The address of the database; absent for a file. */
  readonly url?: string;
  /**
   * Creates the runner if runs are executed elsewhere.
   * @throws UsageError if it cannot be reached.
   */
  open(settings: (sessionId: string) => SessionSettings): Promise<Elsewhere | undefined>;
  close(): Promise<void>;
}

/** Returns a store that passes everything to the given one and sees what it appends. */
export type StoreWatch = <Watched extends SessionStore>(store: Watched) => Watched;

const defaultIngress = 'http://127.0.0.1:8080';
const defaultAdmin = 'http://127.0.0.1:9070';

/** Time limit for Restate to accept calls after its admin API responds, in milliseconds. */
const ingressMs = 5000;

/**
 * Opens the places that the options of `cobbler serve` name, and loads only their modules.
 * @throws UsageError for a runner without a shared store, and for a database that cannot be reached.
 */
export async function servePlaces(
  flags: ServeFlags,
  defaultFile: string,
  io: Io,
  watch: StoreWatch = (store) => store,
): Promise<ServePlaces> {
  const url = databaseUrl(flags.store);
  if (url !== undefined) return await inPostgres(url, flags, watch);
  if (flags.runner !== undefined) {
    throw new UsageError(
      `--runner ${flags.runner} needs a store that all processes share.`,
      'For example: cobbler serve --runner restate --store postgres://user@host/database',
    );
  }
  const file = flags.store === undefined ? defaultFile : resolve(io.cwd(), flags.store);
  const store = watch(sqliteStore(file));
  return { store, name: file, open: async () => undefined, close: () => store.close() };
}

/** Returns the URL of a database; undefined for a file. */
function databaseUrl(store: string | undefined): URL | undefined {
  const [, protocol] = /^([a-z][a-z0-9+.-]*):\/\//i.exec(store ?? '') ?? [];
  if (store === undefined || protocol === undefined) return undefined;
  const advice = 'For example: postgres://user@host:5432/database';
  if (!/^postgres(ql)?$/i.test(protocol)) {
    throw new UsageError(`--store cannot be ${protocol}://…: use a file or a PostgreSQL database.`, advice);
  }
  const url = URL.parse(store);
  if (url === null) throw new UsageError('--store is not a database address.', advice);
  return url;
}

async function inPostgres(
  url: URL,
  { runner, restate }: ServeFlags,
  watchStore: StoreWatch,
): Promise<ServePlaces> {
  const { postgresStore } = await import('@cobbler/store-postgres');
  const exclusion = runner === undefined ? 'lease' : 'runner';
  const store = watchStore(postgresStore({ url: url.href, exclusion }));
  const shown = new URL(url);
  shown.password = '';
  let closeRunner = async () => {};
  const close = async () => {
    await closeRunner();
    await store.close();
  };
  try {
    await withAdvice(store.list({ limit: 1 }), 'Set the database with --store.');
  } catch (error) {
    await close();
    throw error;
  }
  return {
    store,
    name: shown.href,
    url: url.href,
    async open(settings) {
      if (runner === undefined) return undefined;
      const engine = await withAdvice(
        restateEngine(store, settings, restate),
        'Set them with --restate-identity-keys KEY,KEY or --restate-identity-keys trust-network.',
      );
      closeRunner = () => engine.close();
      await withAdvice(engine.listening(), 'Set the port for Restate with --restate-port.');
      await withAdvice(
        engine.ready(),
        'Set the address of the Restate admin API with --restate-admin, and that of this process with --restate-address.',
      );
      await checkIngress(restate.ingress ?? [defaultIngress]);
      const watch = (listener: (sessionId: string) => void) =>
        store.watch((sessionId) => listener(sessionId));
      return { runner: engine, watch };
    },
    close,
  };
}

async function restateEngine(
  store: PostgresStore,
  settings: (sessionId: string) => SessionSettings,
  { ingress = [defaultIngress], admin = [defaultAdmin], host, port, address, identityKeys }: RestateFlags,
) {
  const [{ restateRunner }, { sessionWork }] = await Promise.all([
    import('@cobbler/runner-restate'),
    import('@cobbler/server'),
  ]);
  return restateRunner({
    workflow: sessionWork(store, settings),
    ingress,
    admin,
    host,
    port,
    reusePort: address === undefined,
    ...defined({ address, identityKeys }),
  });
}

/** Explains a connection failure at start, and names the option to correct. */
async function withAdvice<Value>(work: Promise<Value>, advice: string): Promise<Value> {
  try {
    return await work;
  } catch (error) {
    throw AgentError.is(error) ? new UsageError(error.message, advice) : error;
  }
}

/**
 * Checks the addresses now, because otherwise a wrong one would fail only at the first prompt.
 * @throws UsageError if none of them responds.
 */
async function checkIngress(urls: readonly string[]): Promise<void> {
  const deadline = performance.now() + ingressMs;
  do {
    const answers = await Promise.all(urls.map(isHealthy));
    if (answers.includes(true)) return;
    await new Promise((resolve) => setTimeout(resolve, 250));
  } while (performance.now() < deadline);
  throw new UsageError(
    `Restate does not accept calls at ${urls.join(', ')}.`,
    'Set the address of the Restate ingress with --restate; the default port is 8080.',
  );
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await fetch(`${url}/restate/health`, { signal: AbortSignal.timeout(ingressMs) })).ok;
  } catch {
    return false;
  }
}

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { RestateCluster } from '../../../packages/runner-restate/test/restate-server.ts';
import { startRestate } from '../../../packages/runner-restate/test/restate-server.ts';
import type { PostgresServer } from '../../../packages/store-postgres/test/postgres-server.ts';
import { startPostgres } from '../../../packages/store-postgres/test/postgres-server.ts';
import type { Cobbler } from './cobbler.ts';
import { startCobbler } from './cobbler.ts';
import type { Model } from './model.ts';
import { startModel } from './model.ts';

const bookingServer = fileURLToPath(new URL('./booking-server.ts', import.meta.url));

export interface HarnessFixtureOptions {
  /** Number of nodes of the engine. */
  readonly nodes: number;
  /** Minimum and maximum duration of a model response, in milliseconds. */
  readonly answerMs: readonly [number, number];
  /** Minimum and maximum duration of the tool that must not run twice, in milliseconds. */
  readonly bookMs: readonly [number, number];
}

/** PostgreSQL, Restate, a model, and the Cobbler processes that a test starts, all on this machine. */
export interface Scene {
  readonly postgres: PostgresServer;
  readonly restate: RestateCluster;
  readonly model: Model;
  /** The file to which each run of the tool `book` appends a line. */
  readonly bookings: string;
  /** Starts `cobbler serve` with the store, the engine and additional options. */
  serve(name: string, args: readonly string[]): Promise<Cobbler>;
  /** Stops everything and deletes its files. */
  close(): Promise<void>;
}

/** Sets up everything except Cobbler itself. */
export async function setScene({ nodes, answerMs, bookMs }: HarnessFixtureOptions): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-scene-'));
  const endings: (() => Promise<unknown>)[] = [];
  const close = async () => {
    for (const end of endings.splice(0)) await end().catch(() => {});
    rmSync(folder, { recursive: true, force: true });
  };
  try {
    const postgres = await startPostgres({ durable: true });
    endings.unshift(() => postgres.stop());
    const restate = await startRestate(nodes);
    endings.unshift(() => restate.stop());
    const model = await startModel(() => between(answerMs));
    endings.unshift(() => model.close());
    const bookings = join(folder, 'bookings');
    const work = prepared(folder, bookings, bookMs);
    const env = { ...work.env, ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: model.key };
    const { ingress, admin } = restate;
    const places = ['--restate', ingress.join(','), '--restate-admin', admin.join(',')];
    const common = ['--runner', 'restate', '--store', postgres.url, ...places];
    return {
      postgres,
      restate,
      model,
      bookings,
      async serve(name, args) {
        const cobbler = await startCobbler(name, { args: [...common, ...args], env, cwd: work.cwd });
        endings.unshift(() => cobbler.stop());
        return cobbler;
      },
      close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

/**
 * Creates a working directory, and a home whose configuration names the tool server. All processes share the
 * tokens.
 */
function prepared(folder: string, bookings: string, bookMs: readonly [number, number]) {
  const [home, cwd] = [join(folder, 'home'), join(folder, 'work')];
  for (const made of [home, cwd]) mkdirSync(made);
  writeFileSync(join(cwd, 'places.txt'), 'There are six places.\n');
  // JSON is valid YAML and needs no escaping for paths.
  const server = {
    command: process.execPath,
    // It records its bookings outside of the workspace.
    sandbox: 'off',
    // biome-ignore lint/suspicious/noTemplateCurlyInString: Cobbler fills it in, from the environment of each process
    args: [bookingServer, bookings, '${COBBLER_PROOF_NAME}', ...bookMs.map(String)],
    effects: { look: 'read' },
  };
  writeFileSync(join(home, 'config.yaml'), JSON.stringify({ mcp: { bookings: server } }));
  return { cwd, env: { HOME: home, COBBLER_HOME: home, COBBLER_MODEL: 'claude:claude-proof' } };
}

function between([least, most]: readonly [number, number]): number {
  return least + Math.random() * (most - least);
}

// The servers that the commands of docs/scale-out.md connect to or start: a real PostgreSQL and a real Restate.
import { dirname } from 'node:path';
import { freePort, restateBinary } from '../../../packages/runner-restate/test/restate-server.ts';
import { startPostgres } from '../../../packages/store-postgres/test/postgres-server.ts';
import { installServers } from '../../scale/src/servers.mjs';
import type { Command } from './commands.ts';

/** Environment variables with the addresses of the servers. */
export interface Engines {
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const needsThem = /\bpostgres:\/\/|\brestate-server\b/;

/** Installs the servers and starts PostgreSQL if a command needs it. The page itself starts Restate. */
export async function openEngines(root: string, commands: readonly Command[]): Promise<Engines> {
  if (!commands.some(({ text, program }) => program === undefined && needsThem.test(text)))
    return { env: {}, close: async () => {} };
  await installServers(root);
  const postgres = await startPostgres();
  const [node, ingress, admin, handlers] = [
    await freePort(),
    await freePort(),
    await freePort(),
    await freePort(),
  ];
  const env = {
    DOCS_DATABASE: postgres.url,
    DOCS_RESTATE: dirname(restateBinary() ?? ''),
    DOCS_INGRESS: String(ingress),
    DOCS_ADMIN: String(admin),
    DOCS_HANDLERS: String(handlers),
    // Free ports instead of Restate's defaults, so that two test runs do not conflict.
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
  };
  return { env, close: () => postgres.stop() };
}

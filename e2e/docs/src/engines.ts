// The servers that commands of docs/scale-out.md connect to or start: a real PostgreSQL and a real Restate.
import { dirname } from 'node:path';
import { freePort, restateBinary } from '../../../packages/runner-restate/test/restate-server.ts';
import { startPostgres } from '../../../packages/store-postgres/test/postgres-server.ts';
import { installServers } from '../../scale/src/servers.mjs';
import type { Command } from './commands.ts';

/** What commands need to reach the servers, as variables. */
export interface Engines {
  readonly env: Readonly<Record<string, string>>;
  close(): Promise<void>;
}

const needsThem = /\bpostgres:\/\/|\brestate-server\b/;

/** Installs them and starts PostgreSQL, if one of these commands needs it. Restate is started by its page. */
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
    // Free ports in place of Restate's own, so that two runs do not meet.
    RESTATE_BIND_ADDRESS: `127.0.0.1:${node}`,
    RESTATE_ADVERTISED_ADDRESS: `http://127.0.0.1:${node}`,
    RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingress}`,
    RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${admin}`,
  };
  return { env, close: () => postgres.stop() };
}

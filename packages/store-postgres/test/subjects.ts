import type { ContractCase } from '@cobbler/agent/testing';
import { storeContract } from '@cobbler/conformance';
import { postgresSubject } from './postgres-places.ts';
import type { Pooler, PostgresServer } from './postgres-server.ts';
import { missingPooler, missingPostgres, startPooler, startPostgres } from './postgres-server.ts';

/** The store contract on a server that starts with the first case. */
interface OnDemand {
  readonly name: string;
  cases(): readonly ContractCase[];
  /** The reason why the server cannot start here, and how to install what is missing. */
  readonly missing: string | undefined;
  close(): Promise<void>;
}

function onDemand(pooled: boolean): OnDemand {
  let started: Promise<{ readonly server: PostgresServer; readonly pooler: Pooler | undefined }> | undefined;
  const start = async () => {
    const server = await startPostgres();
    return { server, pooler: pooled ? await startPooler(server) : undefined };
  };
  let url = '';
  const name = pooled ? 'postgres pooled' : 'postgres';
  const { place } = postgresSubject(name, () => ({ url }));
  return {
    missing: missingPostgres() ?? (pooled ? missingPooler() : undefined),
    name,
    cases: () =>
      storeContract({
        name,
        async place(now) {
          started ??= start();
          const { server, pooler } = await started;
          url = pooler?.url ?? server.url;
          return await place(now);
        },
      }),
    async close() {
      const running = await started?.catch(() => undefined);
      await running?.pooler?.stop();
      await running?.server.stop();
    },
  };
}

/** Subjects of `npm run verify -- contract`: a direct connection and a transaction pooler. */
export const subjects: readonly OnDemand[] = [onDemand(false), onDemand(true)];

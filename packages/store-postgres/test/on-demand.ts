import type { StoreSubject } from '@cobbler/agent/testing';
import { postgresSubject } from './postgres-places.ts';
import type { Pooler, PostgresServer } from './postgres-server.ts';
import { missingPooler, missingPostgres, startPooler, startPostgres } from './postgres-server.ts';

/** A subject of the store's contract whose server is started when the first case needs it. */
export interface OnDemand<Subject> {
  readonly subject: Subject;
  /** Why it cannot be started here, and how to come by what is missing. */
  readonly missing: string | undefined;
  stop(): Promise<void>;
}

/** Directly, and behind a transaction pooler. */
export function postgresOnDemand(pooled = false): OnDemand<StoreSubject> {
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
    subject: {
      name,
      async place(now) {
        started ??= start();
        const { server, pooler } = await started;
        url = pooler?.url ?? server.url;
        return await place(now);
      },
    },
    async stop() {
      const running = await started?.catch(() => undefined);
      await running?.pooler?.stop();
      await running?.server.stop();
    },
  };
}

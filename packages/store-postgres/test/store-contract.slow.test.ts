import { describeContract, storeContract } from '@cobbler/conformance';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { announce, describeWith } from './missing.ts';
import { postgresSubject } from './postgres-places.ts';
import type { Pooler, PostgresServer } from './postgres-server.ts';
import { missingPooler, missingPostgres, startPooler, startPostgres } from './postgres-server.ts';

const missing = missingPostgres();
const missingToo = missing ?? missingPooler();
announce('the store contract on PostgreSQL', missing);
announce('the store contract behind pgbouncer', missingToo);

let server: PostgresServer;
let pooler: Pooler | undefined;

beforeAll(async () => {
  if (missing !== undefined) return;
  server = await startPostgres();
  if (missingToo === undefined) pooler = await startPooler(server);
}, 120_000);

afterAll(async () => {
  await pooler?.stop();
  await server?.stop();
});

function suite(name: string, reason: string | undefined, url: () => string): void {
  describeWith(reason, name, () => {
    describeContract(storeContract(postgresSubject(name, () => ({ url: url() }))), { describe, it });
  });
}

suite('the PostgreSQL store', missing, () => server.url);
suite('the PostgreSQL store behind a transaction pooler', missingToo, () => pooler?.url ?? '');

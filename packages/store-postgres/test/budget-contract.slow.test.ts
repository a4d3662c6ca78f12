import { systemRuntime } from '@cobbler/agent';
import { budgetStoreContract, describeContract } from '@cobbler/conformance';
import { afterAll, describe, expect, it } from 'vitest';
import { postgresBudgets } from '../src/budgets.ts';
import { announce, describeWith } from './missing.ts';
import type { PostgresServer } from './postgres-server.ts';
import { missingPostgres, startPostgres } from './postgres-server.ts';

const missing = missingPostgres();
announce('the budget contract on PostgreSQL', missing);

let server: Promise<PostgresServer> | undefined;
let places = 0;

afterAll(async () => await (await server)?.stop());

const dollar = { usd: 1, tokens: 0, requests: 1 };

describeWith(missing, 'a process without a heartbeat', () => {
  it('is charged for its reservations when its lease ends by the clock of the database [U3]', async () => {
    server ??= startPostgres();
    const { url } = await server;
    // Its timers never fire, as if the process had stopped.
    const runtime = { ...systemRuntime, timer: () => () => {} };
    const stopped = postgresBudgets({ url, leaseMs: 100, runtime });
    const other = postgresBudgets({ url });
    await stopped.define({ name: 'team', limits: { usd: 1 } });
    const ids = { sessionId: 's', runId: 'r', budget: 'team', id: 'a' };
    await stopped.reserve({ ...ids, wanted: dollar, least: dollar });
    await expect.poll(async () => (await other.balances(['team']))[0]?.settled).toEqual(dollar);
    await other.settle('a', { ...dollar, usd: 0.5 });
    expect((await other.balances(['team']))[0]?.settled.usd).toBe(0.5);
    await stopped.close();
    await other.close();
  });
});

describeWith(missing, 'PostgreSQL budgets', () => {
  describeContract(
    budgetStoreContract({
      name: 'postgres',
      async place() {
        server ??= startPostgres();
        const { url } = await server;
        places += 1;
        const schema = `budgets_${process.pid}_${places}`;
        return { open: () => postgresBudgets({ url, schema }) };
      },
      ownClock: 'the clock is that of the database',
    }),
    { describe, it },
  );
});

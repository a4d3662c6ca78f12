// A process that uses a store, for tests that need two processes. Prints one line when it is done,
// then runs until it is killed or its input ends.
import { DatabaseSync } from 'node:sqlite';
import { sqliteStore } from '../../../src/node/index.ts';
import { eventsOf, said } from '../../../src/testing/stored-events.ts';
import type { AgentError } from '../../../src/values/errors.ts';

const user = Number(process.env.COBBLER_TEST_USER ?? 0);
if (user > 0) {
  process.setgroups?.([]);
  process.setgid?.(user);
  process.setuid?.(user);
}

const [what = '', file = '', sessionId = ''] = process.argv.slice(2);

async function main(): Promise<string> {
  if (what === 'write elsewhere') return await writingFor(200);
  const store = sqliteStore(file);
  if (what === 'open') return 'opened';
  const epoch = await store.claim(sessionId);
  const { length } = await store.read(sessionId);
  await store.append(sessionId, eventsOf(sessionId, [said('From the child.')], length), { epoch });
  if (what === 'hold') return 'held';
  await store.close();
  return 'closed';
}

/** Keeps a write transaction open for some time, as another program would. */
async function writingFor(ms: number): Promise<string> {
  const db = new DatabaseSync(file);
  db.exec('BEGIN IMMEDIATE; CREATE TABLE theirs (a)');
  setTimeout(() => db.exec('ROLLBACK'), ms);
  return 'writing';
}

const told = await main().catch((error: AgentError) => `${error.code}: ${error.message}`);
// The store is unreferenced now and must keep its claim even after garbage collection.
globalThis.gc?.();
await new Promise((resolve) => setImmediate(resolve));
process.stdout.write(`${told}\n`);
process.stdin.resume().on('end', () => process.exit());

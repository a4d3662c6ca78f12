import { cpSync, existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SessionStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { afterAll, describe, it } from 'vitest';
import { executorContract } from '../src/executor/executor-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';

// Uses memory (/dev/shm) if it exists, because this test does not cover power failures.
const disk = existsSync('/dev/shm') ? '/dev/shm' : tmpdir();
const folder = mkdtempSync(join(disk, 'cobbler-executor-'));
const opened: SessionStore[] = [];
let places = 0;

/** Returns a new store from a copy of an empty one, which is faster than creating one. */
function newStore(): SessionStore {
  const place = join(folder, String(places++));
  cpSync(join(folder, 'empty'), place, { recursive: true });
  const store = sqliteStore(join(place, 'sessions.db'));
  opened.push(store);
  return store;
}

await sqliteStore(join(folder, 'empty', 'sessions.db')).close();
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the executor with the SQLite store', () => {
  const cases = executorContract({ name: 'sqlite', store: newStore });
  // This store is already asynchronous, so the slow-store cases add nothing.
  describeContract(
    cases
      .filter(({ name }) => !name.includes('(slow store)'))
      .map((definition) => ({
        ...definition,
        async run() {
          await definition.run();
          for (const store of opened.splice(0)) await store.close();
        },
      })),
    { describe, it },
  );
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryStore } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { afterAll, describe, it } from 'vitest';
import { describeContract } from '../src/report/describe-contract.ts';
import { storeContract } from '../src/store/store-contract.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the memory store', () => {
  describeContract(
    storeContract({
      name: 'memory',
      place: (now) => ({ open: () => memoryStore({ now }) }),
      forgets: 'the sessions are only in memory',
      noMail: 'one process uses the memory store',
      noSearch: 'the memory store has no full-text search',
      noCosts: 'the memory store keeps no costs, and readCosts reads its events',
    }),
    { describe, it },
  );
});

describe('the SQLite store', () => {
  let places = 0;
  describeContract(
    storeContract({
      name: 'sqlite',
      place(now) {
        const file = join(folder, String(places++), 'sessions.db');
        return { open: () => sqliteStore(file, { now }) };
      },
    }),
    { describe, it },
  );
});

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe } from 'vitest';
import { memoryStore } from '../src/memory-store.ts';
import { sqliteStore } from '../src/node/index.ts';
import { storeContract } from '../src/testing/store-contract.ts';
import { contractSuite } from './contract-suite.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-store-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

describe('the memory store', () => {
  contractSuite(
    storeContract({
      name: 'memory',
      place: (now) => ({ open: () => memoryStore({ now }) }),
      forgets: 'what is in memory ends with the store',
    }),
  );
});

describe('the SQLite store', () => {
  let places = 0;
  contractSuite(
    storeContract({
      name: 'sqlite',
      place(now) {
        const file = join(folder, String(places++), 'sessions.db');
        return { open: () => sqliteStore(file, { now }) };
      },
    }),
  );
});

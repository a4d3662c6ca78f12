import { createHarness } from '../../src/harness/index.ts';
import { sqliteStore } from '../../src/node/index.ts';
import type { Sample } from './sample-values.ts';
import { agent, filledStore, newFile } from './sample-values.ts';

/** Arguments of the methods of stores that manage sessions. */
export const storeSamples: Readonly<Record<string, Sample>> = {
  'memoryStore().list': () => [{ limit: 10 }],
  'memoryStore().info': () => ['session-1'],
  'memoryStore().rename': () => ['session-1', 'A title'],
  'memoryStore().share': () => ['session-1', 'ann', 'read'],
  'memoryStore().delete': () => ['session-1'],
  'memoryStore().prune': () => [{ olderThanMs: 10, keepLast: 10 }],
  'sqliteStore().list': () => [{ limit: 10 }],
  'sqliteStore().rename': () => ['session-1', 'A title'],
  'sqliteStore().share': () => ['session-1', 'ann', 'read'],
  'sqliteStore().prune': () => [{ olderThanMs: 10, keepLast: 10 }],
  'sqliteStore().send': () => ['session-1', 'message'],
  'sqliteStore().receive': () => ['session-1'],
  'sqliteStore().search': () => [{ words: 'go', limit: 2 }],
  sharedStore: () => [filledStore()],
  receiveRequests: () => [
    sqliteStore(newFile()),
    createHarness({ agent: agent() }).prompt('Go.'),
    { pollMs: 1_000_000 },
  ],
  followRun: () => [sqliteStore(newFile()), 'session-1', { pollMs: 1_000_000 }],
  readShareLevel: () => ['read'],
  changedShares: () => [[{ user: 'ann', may: 'read' }], 'ann', 'use'],
};

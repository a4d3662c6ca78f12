import type { Sample } from './sample-values.ts';

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
  readShareLevel: () => ['read'],
  changedShares: () => [[{ user: 'ann', may: 'read' }], 'ann', 'use'],
};

import type { SessionStore } from '@cobbler/agent';

/** Options of the store. */
export interface YourOwnStoreOptions {
  /** The address of the sessions. */
  readonly url: string;
  /** Time of changes, in milliseconds since 1970. Default: the clock. */
  readonly now?: () => number;
}

/** Creates a store for sessions in Your Own. See `memoryStore` of @cobbler/agent for the shortest implementation. */
export function yourOwnStore({ url, now = Date.now }: YourOwnStoreOptions): SessionStore {
  const unwritten = (what: string) =>
    new Error(`src/your-own-store.ts, ${what}`, { cause: { url, at: now() } });
  return {
    async claim() {
      // Arguments: (sessionId, origin). `checkSessionId` rejects an invalid id.
      throw unwritten('claim: take over the session, and return an epoch larger than all earlier ones.');
    },
    async append() {
      // Arguments: (sessionId, events, writer). `invalidPosition`, `fenced` and `sequenceGap` of @cobbler/agent/store
      // describe invalid ones.
      throw unwritten(
        'append: add the events, all or none; reject an old epoch, and a wrong sequence number.',
      );
    },
    async read() {
      // Arguments: (sessionId, afterSeq, limit).
      throw unwritten('read: return at most `limit` events after `afterSeq`, in order.');
    },
    async sessions() {
      throw unwritten('sessions: return the ids of all sessions, oldest first.');
    },
    async list() {
      // Argument: { limit, after }. `pageSize`, `cursorOf` and `parseCursor` of @cobbler/agent/store read and create
      // them.
      throw unwritten('list: return a page of sessions, last changed first.');
    },
    async info() {
      // Argument: the sessionId. `addToStats` and `sessionInfo` of @cobbler/agent/store compute it from the events.
      throw unwritten('info: return the information that a list shows about this session.');
    },
    async rename() {
      // Arguments: (sessionId, title).
      throw unwritten('rename: set the title, or remove it if it is empty.');
    },
    async share() {
      // Arguments: (sessionId, user, may). `changedShares` of @cobbler/agent/store returns all shares after the change.
      throw unwritten('share: share the session with this user, or without `may` no longer.');
    },
    async delete() {
      // Argument: the sessionId.
      throw unwritten('delete: delete the session, and fence its writers.');
    },
    async prune() {
      // Argument: { olderThanMs, keepLast }. `checkRetention` rejects rules that would delete everything.
      throw unwritten('prune: delete what both rules allow, except for sessions with an active run.');
    },
    async vacuum() {
      throw unwritten('vacuum: free the space of deleted sessions, and return the number of bytes.');
    },
    async probe() {
      throw unwritten('probe: test whether a prompt could be stored now, and leave nothing behind.');
    },
    async close() {
      // Nothing is open yet.
    },
  };
}

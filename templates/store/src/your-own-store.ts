import type { SessionStore } from '@cobbler/agent';

/** Where sessions are kept. */
export interface YourOwnStoreOptions {
  /** Where the sessions are. */
  readonly url: string;
  /** Time of changes, in milliseconds since 1970. Default: the clock. */
  readonly now?: () => number;
}

/** Sessions in Your Own. `memoryStore` of @cobbler/agent is the shortest store there is to look at. */
export function yourOwnStore({ url, now = Date.now }: YourOwnStoreOptions): SessionStore {
  const unwritten = (what: string) =>
    new Error(`src/your-own-store.ts, ${what}`, { cause: { url, at: now() } });
  return {
    async claim() {
      // Given: (sessionId, origin). `checkSessionId` refuses what is no id.
      throw unwritten('claim: take the session over, and give an epoch larger than any before.');
    },
    async append() {
      // Given: (sessionId, events, writer). `invalidPosition`, `fenced` and `gap` of @cobbler/agent say what is wrong.
      throw unwritten('append: add the events, all or none; refuse an old epoch, and a number out of turn.');
    },
    async read() {
      // Given: (sessionId, afterSeq, limit).
      throw unwritten('read: give at most `limit` events after `afterSeq`, in order.');
    },
    async sessions() {
      throw unwritten('sessions: give the ids of all sessions, oldest first.');
    },
    async list() {
      // Given: { limit, after }. `pageSize`, `cursorOf` and `placeOf` of @cobbler/agent count and find the place.
      throw unwritten('list: give a page of sessions, last changed first.');
    },
    async info() {
      // Given: the sessionId. `count` and `sessionInfo` of @cobbler/agent make it of the events.
      throw unwritten('info: say what a list shows of this session.');
    },
    async rename() {
      // Given: (sessionId, title).
      throw unwritten('rename: give it a title, or take it back when it is empty.');
    },
    async delete() {
      // Given: the sessionId.
      throw unwritten('delete: delete it, and fence what still writes into it.');
    },
    async prune() {
      // Given: { olderThanMs, keepLast }. `checkRetention` refuses what would delete everything.
      throw unwritten('prune: delete what both rules allow, save sessions with a run under way.');
    },
    async vacuum() {
      throw unwritten('vacuum: give room back that deleted sessions took, and say how many bytes.');
    },
    async probe() {
      throw unwritten('probe: try whether a prompt could be stored now, and leave nothing behind.');
    },
    async close() {
      // Nothing is open yet.
    },
  };
}

import type { SessionStore } from '@cobbler/agent';
import type { ContractCase } from '@cobbler/agent/testing';
import { storeContract } from '@cobbler/conformance';
import type { EventStore } from '../../src/storage/event-store.ts';
import { sqlEvents } from '../../src/storage/event-store.ts';
import type { Sql } from '../../src/storage/sql.ts';

/** The reason why a case is skipped. */
const noList = 'logs of turns are kept and read: they have no list, titles or counts';

/** The error of methods that the store of turns does not support. */
class NotKept extends Error {
  constructor() {
    super(noList);
  }
}

const refuse = () => Promise.reject(new NotKept());

/** Adapts the store of turns to the interface of a session store; unsupported methods reject. */
function asSessions(store: EventStore, close: () => void): SessionStore {
  return {
    claim: (sessionId, origin) => store.claim(sessionId, origin),
    append: (sessionId, events, writer) => store.append(sessionId, events, writer),
    read: (sessionId, afterSeq, limit) => store.read(sessionId, afterSeq, limit),
    sessions: () => store.sessions(),
    delete: (sessionId) => store.delete(sessionId),
    list: refuse,
    info: refuse,
    rename: refuse,
    share: refuse,
    prune: refuse,
    vacuum: refuse,
    probe: refuse,
    close: async () => close(),
  };
}

/**
 * Returns the session store contract for the store of turns. Groups and cases that need
 * unsupported methods are off; any other case that calls such a method fails.
 */
export function turnStoreContract(
  name: string,
  begin: () => Promise<{ open(): Sql; shut(sql: Sql): void }>,
  offAlso: Readonly<Record<string, string>> = {},
): ContractCase[] {
  const cases = storeContract({
    name,
    noCosts: noList,
    noMail: noList,
    noSearch: noList,
    async place() {
      const place = await begin();
      return {
        open() {
          const sql = place.open();
          return asSessions(sqlEvents(sql), () => place.shut(sql));
        },
      };
    },
  });
  return cases.map((one) => {
    const off = offAlso[one.name] ?? reasonOff(one);
    return off === undefined ? one : { ...one, off };
  });
}

const noSnapshots = 'no snapshots are kept: a turn is short';

const groupsOff: ReadonlyMap<string, string> = new Map([
  ...['list', 'files', 'fork', 'retention', 'probe', 'shares'].map((group) => [group, noList] as const),
  ['snapshots', noSnapshots],
]);

const casesOff: ReadonlySet<string> = new Set([
  'a claim alone creates no session',
  'an invalid id is rejected by a claim, and nothing exists under it',
  'ids that differ in one allowed character are different sessions',
  'a deleted session is gone, and no other session changes',
  'a session created under a reused id contains nothing of the old one',
  'freeing disk space removes no events',
]);

function reasonOff({ group, name }: ContractCase): string | undefined {
  return groupsOff.get(group) ?? (casesOff.has(name) ? noList : undefined);
}

import type { SessionStore } from '@cobbler/agent';

/** Storage of one store, empty at first. */
export interface StoreInstance {
  /** Opens the store. If the storage is durable, a store opened again contains the same sessions. */
  open(): SessionStore | Promise<SessionStore>;
}

/** A store to test. */
export interface StoreSubject {
  /** Name for reports. */
  readonly name: string;
  /** Returns new, empty storage. The store reads the time from `now`. Called once for each case. */
  place(now: () => number): StoreInstance | Promise<StoreInstance>;
  /** The reason why sessions do not survive a reopen. Switches off the cases that reopen a store. */
  readonly forgets?: string;
  /** The reason why the store does not keep costs. Switches off the cases of its method `costs`. */
  readonly noCosts?: string;
  /** The reason why the store passes on no messages to runs. Switches off the cases of `send`, `receive` and `version`. */
  readonly noMail?: string;
  /** The reason why the store has no full-text search. Switches off the cases of its method `search`. */
  readonly noSearch?: string;
}

/** The environment of one case. */
export interface StoreSetup {
  readonly store: SessionStore;
  /** Opens the same storage once more, as another process does. The caller closes it. */
  another(): Promise<SessionStore>;
  /** Lets time pass, in milliseconds. */
  pass(ms: number): void;
  /** Closes the store and opens it again. `store` is then the new one. */
  reopen(): Promise<void>;
}

/** A case of the store contract before it is bound to a store. */
export interface StoreCase {
  readonly group: string;
  readonly name: string;
  /** True if the case reopens a store. */
  readonly reopens: boolean;
  run(setup: StoreSetup): Promise<void>;
}

/** Returns a function that defines the cases of one group. */
export function group(name: string): (what: string, run: StoreCase['run']) => StoreCase {
  return (what, run) => ({ group: name, name: what, reopens: false, run });
}

/** Returns a function that defines cases of one group that reopen a store. */
export function reopening(name: string): (what: string, run: StoreCase['run']) => StoreCase {
  return (what, run) => ({ group: name, name: what, reopens: true, run });
}

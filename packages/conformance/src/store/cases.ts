import type { SessionStore } from '@cobbler/agent';

/** Where one store keeps its sessions; empty at first. */
export interface StoreInstance {
  /** Opens the store. Where it outlives being closed, opening it again finds the same sessions. */
  open(): SessionStore | Promise<SessionStore>;
}

/** A store that has to keep what it is given. */
export interface StoreSubject {
  /** For reports only: no case looks at it. */
  readonly name: string;
  /** Makes a new place; `now` tells the store the time. Called once for each case. */
  place(now: () => number): StoreInstance | Promise<StoreInstance>;
  /** Why what is stored does not outlive the store; switches off the cases that open one again. */
  readonly forgets?: string;
}

/** Where one case plays. */
export interface StoreStage {
  readonly store: SessionStore;
  /** Lets time pass, in milliseconds. */
  pass(ms: number): void;
  /** Closes the store and opens it again; `store` is the new one. */
  reopen(): Promise<void>;
}

/** A case of the store's contract before it is bound to a store. */
export interface StoreCase {
  readonly group: string;
  readonly name: string;
  /** Whether the case opens a store again. */
  readonly reopens: boolean;
  run(stage: StoreStage): Promise<void>;
}

/** Defines the cases of one group. */
export function group(name: string): (what: string, run: StoreCase['run']) => StoreCase {
  return (what, run) => ({ group: name, name: what, reopens: false, run });
}

/** The same for cases that open a store again. */
export function reopening(name: string): (what: string, run: StoreCase['run']) => StoreCase {
  return (what, run) => ({ group: name, name: what, reopens: true, run });
}

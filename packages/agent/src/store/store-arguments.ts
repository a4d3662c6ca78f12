import type { Event } from '../events/event.ts';
import type { Reader } from '../values/input.ts';
import { count, flag, listOf, oneOf, optional, record, text, when } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type { Parent, ShareLevel } from './session-info.ts';
import type { ListOptions, Origin, Retention, SearchQuery, Writer } from './store.ts';
import { checkRetention } from './store.ts';

// The readers of the arguments of a store's methods, for every implementation. Bundles leave out those that they do not
// use, if they are marked as pure.

const number = when<number>((value) => typeof value === 'number', 'a number');

/** Reads the origin of a session. */
export const readOrigin: Reader<Origin> = /* @__PURE__ */ record<Origin>({
  parent: /* @__PURE__ */ record<Parent>({ sessionId: text, seq: count }, ['sessionId', 'seq']),
});

/** Reads a writer. */
export const readWriter: Reader<Writer> = /* @__PURE__ */ record<Writer>(
  { epoch: number, durable: flag, release: flag },
  ['epoch'],
);

/** Reads events as far as a store uses them: each is an object with a position. */
export const readEvents: Reader<readonly Event[]> = /* @__PURE__ */ listOf(
  /* @__PURE__ */ when((value) => isObject(value) && Number.isInteger(value['seq']), 'an event of a session'),
);

/** Reads the options of a list of sessions. A page has at least one session and at most 1,000. */
export const readListOptions: Reader<ListOptions> = record<ListOptions>({ limit: number, after: text });

/** Reads what to search for. */
export const readSearchQuery: Reader<SearchQuery> = /* @__PURE__ */ record<SearchQuery>(
  { words: text, limit: number, after: text },
  ['words'],
);

/** Reads what a share allows; undefined ends a share. */
export const readShareLevel: Reader<ShareLevel | undefined> = /* @__PURE__ */ optional(
  /* @__PURE__ */ oneOf<ShareLevel>('read', 'approve', 'use'),
);

const retention = record<Retention>({ olderThanMs: number, keepLast: number });

/** Reads retention rules, of which there must be at least one. */
export const readRetention: Reader<Retention> = (value) => {
  const given = retention(value);
  checkRetention(given);
  return given;
};

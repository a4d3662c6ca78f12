import type { SessionStore } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { emptyState } from '@cobbler/agent/events';
import { expect, test } from 'vitest';
import { postgresStore } from '../src/index.ts';

/** Calls a method with a value of any type. */
type Call = (store: SessionStore, odd: never) => unknown;

const writer = { epoch: 1 };

/** Calls for which any text is valid. */
const texts: ReadonlySet<string> = new Set(['rename: title', 'share: user']);

const calls: Readonly<Record<string, Call>> = {
  'claim: origin': (store, odd) => store.claim('s', odd),
  'append: events': (store, odd) => store.append('s', odd, writer),
  'append: writer': (store, odd) => store.append('s', [], odd),
  'read: afterSeq': (store, odd) => store.read('s', odd),
  'read: limit': (store, odd) => store.read('s', 0, odd),
  'keepSnapshot: state': (store, odd) => store.keepSnapshot?.('s', odd, writer),
  'keepSnapshot: writer': (store, odd) => store.keepSnapshot?.('s', emptyState(), odd),
  'list: options': (store, odd) => store.list(odd),
  'rename: title': (store, odd) => store.rename('s', odd),
  'share: user': (store, odd) => store.share('s', odd, 'read'),
  'share: may': (store, odd) => store.share('s', 'ann', odd),
  'prune: retention': (store, odd) => store.prune(odd),
};

const revocable = Proxy.revocable({}, {});
revocable.revoke();
const odds: readonly unknown[] = [null, 'text', Number.NaN, 7n, Symbol('odd'), [null], revocable.proxy];

test.each(Object.entries(calls))('%s is read before the database is used [P26]', async (name, call) => {
  const store = postgresStore({ url: 'postgres://user@127.0.0.1:9/none', busyMs: 1 });
  for (const odd of odds) {
    const attempt = async () => await call(store, odd as never);
    const error: unknown = await attempt().catch((thrown: unknown) => thrown);
    if (error === undefined || (texts.has(name) && odd === 'text')) continue;
    expect(AgentError.is(error) && error.code, `${String(error)}`).toMatch(/^(bad_option|cursor|retention)$/);
  }
  await store.close();
});

import type { SessionStore } from '@cobbler/agent';
import { expect, expectEqual, said, wholeRun, write } from '@cobbler/agent/testing';
import type { StoreCase } from './case.ts';
import { reopening } from './case.ts';

const the = reopening('mail');

/** Runs `work` with a store of another process. */
async function withAnother(
  another: () => Promise<SessionStore>,
  work: (other: SessionStore) => Promise<void>,
): Promise<void> {
  const other = await another();
  try {
    await work(other);
  } finally {
    await other.close();
  }
}

export const mailCases: readonly StoreCase[] = [
  the('messages reach the run of another process once, in order', async ({ store, another }) => {
    await write(store, 'one', [said('Hi.')]);
    await withAnother(another, async (other) => {
      for (const message of ['a', 'ü 🐛\n', 'c'])
        expectEqual(await other.send?.('one', message), true, `whether ${message} was sent`);
      expectEqual(
        await other.receive?.('one'),
        [],
        'the messages of a process that does not run the session',
      );
      expectEqual(await store.receive?.('two'), [], 'the messages of another session');
      expectEqual(await store.receive?.('one'), ['a', 'ü 🐛\n', 'c'], 'the messages');
      expectEqual(await store.receive?.('one'), [], 'the messages after they were received');
    });
  }),
  the('no message is sent without a run of another process', async ({ store, another }) => {
    await write(store, 'one', wholeRun());
    await write(store, 'two', [said('Hi.')]);
    expectEqual(await store.send?.('two', 'a'), false, 'whether a process sends to itself');
    await withAnother(another, async (other) => {
      expectEqual(await other.send?.('none', 'a'), false, 'whether an unknown session has a run');
      expectEqual(await other.send?.('one', 'a'), false, 'whether an ended run receives messages');
    });
  }),
  the('a later run does not receive the messages of an earlier one', async ({ store, another }) => {
    await write(store, 'one', [said('Hi.')]);
    await withAnother(another, async (other) => {
      await other.send?.('one', 'old');
      await store.claim('one');
      await other.send?.('one', 'new');
      expectEqual(await store.receive?.('one'), ['new'], 'the messages of the later run');
      await other.send?.('one', 'last');
    });
    await store.delete('one');
    await write(store, 'one', [said('Again.')]);
    expectEqual(await store.receive?.('one'), [], 'the messages of a new session with the same id');
  }),
  the('the version changes with the writes of every process, and with nothing else', async (setup) => {
    const { store, another } = setup;
    await withAnother(another, async (other) => {
      const before = store.version?.();
      expectEqual(store.version?.(), before, 'the version without a write');
      await write(other, 'one', wholeRun());
      const after = store.version?.();
      expect(after !== before, 'another version after a write of another process');
      await store.read('one');
      await store.list();
      expectEqual(store.version?.(), after, 'the version after a read');
      await store.rename('one', 'Uno');
      expect(store.version?.() !== after, 'another version after a write of this process');
    });
  }),
];

import { join } from 'node:path';
import type { RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import type { SharedStore } from '@cobbler/agent/harness';
import { createHarness } from '@cobbler/agent/harness';
import { sqliteStore } from '@cobbler/agent/node';
import { harnessFixture } from '@cobbler/conformance';
import { expect, onTestFinished, test } from 'vitest';
import { JoinedHarness, sessionOf } from '../../src/session/joined-harness.ts';
import { fakeClock } from '../support/fake-io.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

/** Returns two conversations of one session in different processes; `look` lets both look at the store. */
function conversations() {
  const file = join(temporaryFolder(), 'sessions.db');
  const clock = fakeClock();
  const open = () => {
    const store = sqliteStore(file);
    onTestFinished(() => store.close());
    const shown = new Map([['s', 0]]);
    const events: RunEvent[] = [];
    const harness = createHarness({
      ...harnessFixture(),
      attended: true,
      store,
      sessionId: 's',
      handler: {
        onEvent: (event) => {
          if (isStored(event)) shown.set(sessionOf(event), event.seq);
          events.push(event);
        },
      },
    });
    const onEvent = (event: RunEvent) => void events.push(event);
    const unread: unknown[] = [];
    const onUnread = (content: unknown) => void unread.push(content);
    const shared = store as SharedStore;
    const joined = new JoinedHarness(harness, { store: shared, clock, shown, onEvent, onUnread });
    onTestFinished(() => joined.close());
    return {
      joined,
      seen: () => events.filter(isStored).map(({ seq, type }) => `${seq} ${type}`),
      events,
      unread,
    };
  };
  const look = async (until: () => boolean) => {
    while (!until()) {
      clock.advance(500);
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  return { one: open(), two: open(), look };
}

const asked = (event: RunEvent) => event.type === 'approval_requested';
const over = (event: RunEvent) => event.type === 'finished';

test('a conversation shows the run of another process, steers it and decides its approvals', async () => {
  const { one, two, look } = conversations();
  const run = one.joined.prompt('use write');
  await look(() => two.events.some(asked));
  expect(two.joined.steer('And then?')).toBe(true);
  const request = two.events.find(asked);
  const approvalId = request?.type === 'approval_requested' ? request.approvalId : '';
  const followed = two.joined.resume({ answers: [{ approvalId, decision: 'allow' }] });
  expect(followed.id).toBe(run.id);
  await look(() => two.events.some(over));
  expect((await followed).status).toBe('complete');
  expect(two.seen()).toEqual(one.seen());
  expect(one.seen().filter((event) => event.endsWith('user'))).toHaveLength(2);
});

test('a message that the run of another process has ended without is returned', async () => {
  const { one, two, look } = conversations();
  one.joined.prompt('use write');
  await look(() => two.events.some(asked));
  one.joined.cancel();
  expect(two.joined.steer('Too late.')).toBe(true);
  await look(() => two.unread.length > 0);
  expect(two.unread).toEqual(['Too late.']);
  await look(() => two.events.some(over));
  expect(two.seen()).toEqual(one.seen());
});

test('the end of a followed run is shown before its result arrives', async () => {
  const { one, two, look } = conversations();
  one.joined.prompt('use write');
  await look(() => two.events.some(asked));
  const request = two.events.find(asked);
  const approvalId = request?.type === 'approval_requested' ? request.approvalId : '';
  const { result } = two.joined.resume({ answers: [{ approvalId, decision: 'allow' }] });
  let isShown: boolean | undefined;
  void result.then(() => {
    isShown = two.events.some(over);
  });
  await look(() => isShown !== undefined);
  expect(isShown).toBe(true);
});

test('a conversation cancels the run of another process, and then runs its own, which the other one shows', async () => {
  const { one, two, look } = conversations();
  const run = one.joined.prompt('use write');
  await look(() => two.events.some(asked));
  expect(two.joined.cancel()).toBe(true);
  expect((await run).status).toBe('cancelled');
  await look(() => two.events.some(over));
  expect((await two.joined.prompt('say Hi.')).text).toBe('Hi.');
  await look(() => one.events.filter(over).length === 2);
  expect(one.seen()).toEqual(two.seen());
  expect(new Set(one.seen()).size).toBe(one.seen().length);
});

test('a closed conversation shows nothing more, and leaves the runs of others', async () => {
  const { one, two, look } = conversations();
  const run = one.joined.prompt('use write');
  await look(() => two.events.some(asked));
  await two.joined.close();
  const before = two.seen();
  one.joined.cancel();
  expect((await run).status).toBe('cancelled');
  await look(() => one.events.some(over));
  expect(two.seen()).toEqual(before);
});

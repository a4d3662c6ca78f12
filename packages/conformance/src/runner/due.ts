import { expect, expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase } from './case.ts';
import { group } from './case.ts';

const the = group('due');
const echo = { workflow: 'echo', value: 1 };

export const dueCases: readonly RunnerCase[] = [
  the('a run begins at its due time', async (setup) => {
    const dueAt = setup.place.now() + setup.stretched(150);
    await setup.start('one', echo, { dueAt });
    expectEqual(await setup.state('one'), 'queued', 'the state before');
    await setup.expectLines('one', 'echo', 0);
    await setup.result('one');
    const late = setup.place.now() - dueAt;
    expect(late >= -1, `not before its due time, found ${-late} ms before`);
  }),
  the('a due time in the past is now', async (setup) => {
    await setup.start('one', echo, { dueAt: 1 });
    await setup.result('one');
  }),
  the('an invalid due time is rejected, and nothing is started', async (setup) => {
    for (const dueAt of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      const { kind, code } = await setup.refusal(() => setup.start('one', echo, { dueAt }), 'the start');
      expectEqual(`${kind} ${code}`, 'invalid due_at', 'the error');
    }
    expectEqual(await setup.state('one'), 'unknown', 'the state');
  }),
  the('a run that is not due does not hold up others with its key', async (setup) => {
    const dueAt = setup.place.now() + setup.stretched(400);
    await setup.start('later', echo, { key: 'k', dueAt });
    await setup.start('now', echo, { key: 'k', whenBusy: 'reject' });
    await setup.result('now');
    await setup.expectLines('later', 'echo', 0);
    await setup.result('later');
  }),
  the('a run that becomes due waits for the one with its key', async (setup) => {
    await setup.start('now', { workflow: 'waiter' }, { key: 'k' });
    await setup.untilReached('now', 'recorded');
    const ms = setup.stretched(60);
    await setup.start('later', echo, { key: 'k', dueAt: setup.place.now() + ms });
    await setup.place.advance(ms + 100);
    await setup.expectLines('later', 'echo', 0);
    await setup.signal('now', 'go');
    await setup.result('later');
  }),
  the('a run that is cancelled before it is due never begins', async (setup) => {
    const dueAt = setup.place.now() + setup.stretched(100);
    await setup.start('one', echo, { dueAt });
    expectEqual(await setup.cancel('one'), true, 'whether it was cancelled');
    await setup.place.advance(setup.stretched(100) + 50);
    expectEqual(await setup.state('one'), 'cancelled', 'the state');
    await setup.expectLines('one', 'echo', 0);
  }),
  group('due', 'reopen')('a due time is kept when the runner is reopened', async (setup) => {
    const dueAt = setup.place.now() + setup.stretched(300);
    await setup.start('one', echo, { dueAt });
    await setup.reopen();
    await setup.expectLines('one', 'echo', 0);
    await setup.result('one');
    expect(setup.place.now() - dueAt >= -1, 'not before its due time');
  }),
];

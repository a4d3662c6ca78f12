import { expect, expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const the = group('due');
const echo = { routine: 'echo', value: 1 };

export const dueCases: readonly RunnerCase[] = [
  the('a run begins at its due time', async (stage) => {
    const dueAt = stage.place.now() + stage.stretched(150);
    await stage.start('one', echo, { dueAt });
    expectEqual(await stage.state('one'), 'queued', 'the state before');
    await stage.expectLines('one', 'echo', 0);
    await stage.result('one');
    const late = stage.place.now() - dueAt;
    expect(late >= -1, `not before its due time, found ${-late} ms before`);
  }),
  the('a due time in the past is now', async (stage) => {
    await stage.start('one', echo, { dueAt: 1 });
    await stage.result('one');
  }),
  the('an invalid due time is rejected, and nothing is started', async (stage) => {
    for (const dueAt of [Number.NaN, -1, Number.POSITIVE_INFINITY]) {
      const { kind, code } = await stage.refusal(() => stage.start('one', echo, { dueAt }), 'the start');
      expectEqual(`${kind} ${code}`, 'invalid due_at', 'the error');
    }
    expectEqual(await stage.state('one'), 'unknown', 'the state');
  }),
  the('a run that is not due does not hold up others with its key', async (stage) => {
    const dueAt = stage.place.now() + stage.stretched(400);
    await stage.start('later', echo, { key: 'k', dueAt });
    await stage.start('now', echo, { key: 'k', whenBusy: 'reject' });
    await stage.result('now');
    await stage.expectLines('later', 'echo', 0);
    await stage.result('later');
  }),
  the('a run that becomes due waits for the one with its key', async (stage) => {
    await stage.start('now', { routine: 'waiter' }, { key: 'k' });
    await stage.reached('now', 'recorded');
    const ms = stage.stretched(60);
    await stage.start('later', echo, { key: 'k', dueAt: stage.place.now() + ms });
    await stage.place.advance(ms + 100);
    await stage.expectLines('later', 'echo', 0);
    await stage.signal('now', 'go');
    await stage.result('later');
  }),
  the('a run that is cancelled before it is due never begins', async (stage) => {
    const dueAt = stage.place.now() + stage.stretched(100);
    await stage.start('one', echo, { dueAt });
    expectEqual(await stage.cancel('one'), true, 'whether it was cancelled');
    await stage.place.advance(stage.stretched(100) + 50);
    expectEqual(await stage.state('one'), 'cancelled', 'the state');
    await stage.expectLines('one', 'echo', 0);
  }),
  group('due', 'reopen')('a due time is kept when the runner is reopened', async (stage) => {
    const dueAt = stage.place.now() + stage.stretched(300);
    await stage.start('one', echo, { dueAt });
    await stage.reopen();
    await stage.expectLines('one', 'echo', 0);
    await stage.result('one');
    expect(stage.place.now() - dueAt >= -1, 'not before its due time');
  }),
];

import type { Json } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import { maxResultBytes } from '@cobbler/agent/values';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const sleep = group('sleep');
const wait = group('signal');
const sleepAfterReopening = group('sleep', 'reopen');
const waitAfterReopening = group('signal', 'reopen');

const none = ['timed out'];

export const waitCases: readonly RunnerCase[] = [
  sleep('a run waits until the given time', async (stage) => {
    const until = stage.place.now() + 150;
    await stage.start('one', { routine: 'sleeper', until });
    await stage.reached('one', 'recorded');
    expectEqual(await stage.state('one'), 'running', 'the state during the wait');
    expectEqual(await stage.result('one'), 'awake', 'the result');
    const late = stage.place.now() - until;
    expect(late >= -1, `the end of the wait, found ${-late} ms before it`);
    await stage.expectLines('one', 'before', 1);
  }),
  sleep('a wait until a time in the past ends', async (stage) => {
    await stage.start('one', { routine: 'sleeper', until: 0 });
    expectEqual(await stage.result('one'), 'awake', 'the result');
  }),
  sleep('an invalid time is rejected', async (stage) => {
    await stage.start('one', { routine: 'badTimes' });
    const found = (await stage.result('one')) as { kind: string; code: string }[];
    expectEqual(
      found.map(({ kind, code }) => `${kind} ${code}`),
      ['invalid until', 'invalid until'],
      'the errors',
    );
  }),
  sleepAfterReopening('a wait that ended while the runner was closed is over', async (stage) => {
    const ms = stage.stretched(200);
    await stage.start('one', { routine: 'sleeper', until: stage.place.now() + ms });
    await stage.reached('one', 'recorded');
    await stage.reopen(() => stage.place.advance(ms + 50));
    expectEqual(await stage.result('one'), 'awake', 'the result');
    await stage.expectLines('one', 'before', 1);
  }),
  group(
    'sleep',
    'reopen',
    'precise',
  )('reopening does not change the end of a wait', async (stage) => {
    const until = stage.place.now() + 250;
    await stage.start('one', { routine: 'sleeper', until });
    await stage.reached('one', 'recorded');
    await stage.place.advance(150);
    await stage.reopen();
    await stage.expectLines('one', 'after', 0);
    await stage.result('one');
    const late = stage.place.now() - until;
    expect(late >= -1 && late < 130, `about 250 ms, found ${late} ms more`);
  }),
  wait('a signal continues the run that waits for it', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.reached('one', 'recorded');
    await stage.place.advance(20);
    expectEqual(await stage.signal('one', 'go', { a: [1] }), true, 'whether the signal was accepted');
    expectEqual(await stage.result('one'), [{ value: { a: [1] } }], 'the result');
  }),
  wait('a signal sent before the wait is kept', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'second'] });
    expectEqual(await stage.signal('one', 'second', 2), true, 'whether the signal was accepted');
    await stage.signal('one', 'first', 1);
    expectEqual(await stage.result('one'), [{ value: 1 }, { value: 2 }], 'the result');
  }),
  wait('of two signals with the same name only the first counts', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'go'] });
    expectEqual(await stage.signal('one', 'go', 1), true, 'whether the first signal was accepted');
    expectEqual(await stage.signal('one', 'go', 2), false, 'whether the second signal was accepted');
    await stage.signal('one', 'first', 0);
    expectEqual(await stage.result('one'), [{ value: 0 }, { value: 1 }], 'the result');
  }),
  wait('a wait until a time ends with undefined', async (stage) => {
    const until = stage.place.now() + 100;
    await stage.start('one', { routine: 'waiter', until });
    expectEqual(await stage.result('one'), none, 'the result');
    const late = stage.place.now() - until;
    expect(late >= -1, `the end of the wait, found ${-late} ms before it`);
  }),
  wait('a signal before the end of the wait counts', async (stage) => {
    await stage.start('one', { routine: 'waiter', until: stage.place.now() + stage.stretched(5000) });
    await stage.signal('one', 'go', 'x');
    expectEqual(await stage.result('one'), [{ value: 'x' }], 'the result');
  }),
  wait('a signal after the end of the wait is rejected', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'go'], until: 1, timed: 'first' });
    await stage.reached('one', 'recorded', 2);
    expectEqual(await stage.signal('one', 'first', 1), false, 'whether the signal was accepted');
    await stage.signal('one', 'go', 2);
    expectEqual(await stage.result('one'), ['timed out', { value: 2 }], 'the result');
  }),
  wait('of several waits any can be the first to end', async (stage) => {
    await stage.start('one', { routine: 'any', names: ['a', 'b', 'c'] });
    await stage.reached('one', 'recorded');
    await stage.place.advance(20);
    await stage.signal('one', 'c');
    expectEqual(await stage.result('one'), 'c', 'the result');
  }),
  wait('null is a valid signal value', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.signal('one', 'go', null);
    expectEqual(await stage.result('one'), [{ value: null }], 'the result');
  }),
  wait('a signal reaches only one run', async (stage) => {
    await stage.start('one', { routine: 'waiter', until: stage.place.now() + stage.stretched(80) });
    await stage.start('two', { routine: 'waiter' });
    await stage.signal('two', 'go', 2);
    expectEqual(await stage.result('two'), [{ value: 2 }], 'the result of the run with the signal');
    expectEqual(await stage.result('one'), none, 'the result of the other run');
  }),
  wait('a run that has ended accepts no signal', async (stage) => {
    await stage.start('one', { routine: 'echo' });
    await stage.result('one');
    expectEqual(await stage.signal('one', 'go'), false, 'whether the signal was accepted');
  }),
  wait('a signal that is too large or not valid JSON is rejected', async (stage) => {
    await stage.start('one', { routine: 'waiter', measure: true });
    const odd = { odd: new Map() as unknown as Json, more: 'x'.repeat(maxResultBytes - 1) };
    const codes: (string | undefined)[] = [];
    for (const value of Object.values(odd))
      codes.push((await stage.refusal(() => stage.signal('one', 'go', value), 'the signal')).code);
    expectEqual(codes, ['not_json', 'too_large'], 'the errors');
    await stage.signal('one', 'go', 'x'.repeat(maxResultBytes - 2));
    expectEqual(
      await stage.result('one'),
      [{ value: maxResultBytes - 2 }],
      'the length of the largest signal',
    );
  }),
  waitAfterReopening('an earlier signal is kept when the runner is reopened', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'second'] });
    await stage.reached('one', 'recorded');
    await stage.signal('one', 'second', 2);
    await stage.reopen();
    await stage.signal('one', 'first', 1);
    expectEqual(await stage.result('one'), [{ value: 1 }, { value: 2 }], 'the result');
    await stage.expectLines('one', 'before', 1);
  }),
  waitAfterReopening('a wait that is over stays over, even if the signal arrives later', async (stage) => {
    const until = stage.place.now() + 100;
    await stage.start('one', { routine: 'waiter', names: ['first', 'second'], until });
    await stage.reached('one', 'recorded');
    await stage.reopen(() => stage.place.advance(120));
    expectEqual(await stage.result('one'), ['timed out', 'timed out'], 'the result');
    expectEqual(await stage.signal('one', 'first', 2), false, 'whether the signal was accepted');
  }),
];

import type { Json } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import { maxResultBytes } from '@cobbler/agent/values';
import type { RunnerCase } from './case.ts';
import { group } from './case.ts';

const sleep = group('sleep');
const wait = group('signal');
const sleepAfterReopening = group('sleep', 'reopen');
const waitAfterReopening = group('signal', 'reopen');

const none = ['timed out'];

export const waitCases: readonly RunnerCase[] = [
  sleep('a run waits until the given time', async (setup) => {
    const until = setup.place.now() + setup.stretched(150);
    await setup.start('one', { workflow: 'sleeper', until });
    await setup.untilReached('one', 'recorded');
    expectEqual(await setup.state('one'), 'running', 'the state during the wait');
    expectEqual(await setup.result('one'), 'awake', 'the result');
    const late = setup.place.now() - until;
    expect(late >= -1, `the end of the wait, found ${-late} ms before it`);
    await setup.expectLines('one', 'before', 1);
  }),
  sleep('a wait until a time in the past ends', async (setup) => {
    await setup.start('one', { workflow: 'sleeper', until: 0 });
    expectEqual(await setup.result('one'), 'awake', 'the result');
  }),
  sleep('an invalid time is rejected', async (setup) => {
    await setup.start('one', { workflow: 'badTimes' });
    const found = (await setup.result('one')) as { kind: string; code: string }[];
    expectEqual(
      found.map(({ kind, code }) => `${kind} ${code}`),
      ['invalid until', 'invalid until'],
      'the errors',
    );
  }),
  sleepAfterReopening('a wait that ended while the runner was closed is over', async (setup) => {
    const ms = setup.stretched(200);
    await setup.start('one', { workflow: 'sleeper', until: setup.place.now() + ms });
    await setup.untilReached('one', 'recorded');
    await setup.reopen(() => setup.place.advance(ms + 50));
    expectEqual(await setup.result('one'), 'awake', 'the result');
    await setup.expectLines('one', 'before', 1);
  }),
  group(
    'sleep',
    'reopen',
    'precise',
  )('reopening does not change the end of a wait', async (setup) => {
    const until = setup.place.now() + 250;
    await setup.start('one', { workflow: 'sleeper', until });
    await setup.untilReached('one', 'recorded');
    await setup.place.advance(150);
    await setup.reopen();
    await setup.expectLines('one', 'after', 0);
    await setup.result('one');
    const late = setup.place.now() - until;
    expect(late >= -1 && late < 130, `about 250 ms, found ${late} ms more`);
  }),
  wait('a signal continues the run that waits for it', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    await setup.untilReached('one', 'recorded');
    await setup.place.advance(20);
    expectEqual(await setup.signal('one', 'go', { a: [1] }), true, 'whether the signal was accepted');
    expectEqual(await setup.result('one'), [{ value: { a: [1] } }], 'the result');
  }),
  wait('a signal sent before the wait is kept', async (setup) => {
    await setup.start('one', { workflow: 'waiter', names: ['first', 'second'] });
    expectEqual(await setup.signal('one', 'second', 2), true, 'whether the signal was accepted');
    await setup.signal('one', 'first', 1);
    expectEqual(await setup.result('one'), [{ value: 1 }, { value: 2 }], 'the result');
  }),
  wait('of two signals with the same name only the first counts', async (setup) => {
    await setup.start('one', { workflow: 'waiter', names: ['first', 'go'] });
    expectEqual(await setup.signal('one', 'go', 1), true, 'whether the first signal was accepted');
    expectEqual(await setup.signal('one', 'go', 2), false, 'whether the second signal was accepted');
    await setup.signal('one', 'first', 0);
    expectEqual(await setup.result('one'), [{ value: 0 }, { value: 1 }], 'the result');
  }),
  wait('a wait until a time ends with undefined', async (setup) => {
    const until = setup.place.now() + 100;
    await setup.start('one', { workflow: 'waiter', until });
    expectEqual(await setup.result('one'), none, 'the result');
    const late = setup.place.now() - until;
    expect(late >= -1, `the end of the wait, found ${-late} ms before it`);
  }),
  wait('a signal before the end of the wait counts', async (setup) => {
    await setup.start('one', { workflow: 'waiter', until: setup.place.now() + setup.stretched(5000) });
    await setup.signal('one', 'go', 'x');
    expectEqual(await setup.result('one'), [{ value: 'x' }], 'the result');
  }),
  wait('a signal after the end of the wait is rejected', async (setup) => {
    await setup.start('one', { workflow: 'waiter', names: ['first', 'go'], until: 1, timed: 'first' });
    await setup.untilReached('one', 'recorded', 2);
    expectEqual(await setup.signal('one', 'first', 1), false, 'whether the signal was accepted');
    await setup.signal('one', 'go', 2);
    expectEqual(await setup.result('one'), ['timed out', { value: 2 }], 'the result');
  }),
  wait('of several waits any can be the first to end', async (setup) => {
    await setup.start('one', { workflow: 'any', names: ['a', 'b', 'c'] });
    await setup.untilReached('one', 'recorded');
    await setup.place.advance(20);
    await setup.signal('one', 'c');
    expectEqual(await setup.result('one'), 'c', 'the result');
  }),
  wait('null is a valid signal value', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    await setup.signal('one', 'go', null);
    expectEqual(await setup.result('one'), [{ value: null }], 'the result');
  }),
  wait('a signal reaches only one run', async (setup) => {
    await setup.start('one', { workflow: 'waiter', until: setup.place.now() + setup.stretched(80) });
    await setup.start('two', { workflow: 'waiter' });
    await setup.signal('two', 'go', 2);
    expectEqual(await setup.result('two'), [{ value: 2 }], 'the result of the run with the signal');
    expectEqual(await setup.result('one'), none, 'the result of the other run');
  }),
  wait('a run that has ended accepts no signal', async (setup) => {
    await setup.start('one', { workflow: 'echo' });
    await setup.result('one');
    expectEqual(await setup.signal('one', 'go'), false, 'whether the signal was accepted');
  }),
  wait('a signal that is too large or not valid JSON is rejected', async (setup) => {
    await setup.start('one', { workflow: 'waiter', measure: true });
    const odd = { odd: new Map() as unknown as Json, more: 'x'.repeat(maxResultBytes - 1) };
    const codes: (string | undefined)[] = [];
    for (const value of Object.values(odd))
      codes.push((await setup.refusal(() => setup.signal('one', 'go', value), 'the signal')).code);
    expectEqual(codes, ['not_json', 'too_large'], 'the errors');
    await setup.signal('one', 'go', 'x'.repeat(maxResultBytes - 2));
    expectEqual(
      await setup.result('one'),
      [{ value: maxResultBytes - 2 }],
      'the length of the largest signal',
    );
  }),
  waitAfterReopening('an earlier signal is kept when the runner is reopened', async (setup) => {
    await setup.start('one', { workflow: 'waiter', names: ['first', 'second'] });
    await setup.untilReached('one', 'recorded');
    await setup.signal('one', 'second', 2);
    await setup.reopen();
    await setup.signal('one', 'first', 1);
    expectEqual(await setup.result('one'), [{ value: 1 }, { value: 2 }], 'the result');
    await setup.expectLines('one', 'before', 1);
  }),
  waitAfterReopening('a wait that is over stays over, even if the signal arrives later', async (setup) => {
    const until = setup.place.now() + 100;
    await setup.start('one', { workflow: 'waiter', names: ['first', 'second'], until });
    await setup.untilReached('one', 'recorded');
    await setup.reopen(() => setup.place.advance(120));
    expectEqual(await setup.result('one'), ['timed out', 'timed out'], 'the result');
    expectEqual(await setup.signal('one', 'first', 2), false, 'whether the signal was accepted');
  }),
];

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
  sleep('a run sleeps for the given time', async (stage) => {
    const began = stage.place.now();
    await stage.start('one', { routine: 'sleeper', ms: 150 });
    await stage.reached('one', 'recorded');
    expectEqual(await stage.state('one'), 'running', 'the state during the sleep');
    expectEqual(await stage.result('one'), 'awake', 'the result');
    const took = stage.place.now() - began;
    expect(took >= 149, `at least 150 ms, found ${took}`);
  }),
  sleep('a sleep of zero milliseconds ends', async (stage) => {
    await stage.start('one', { routine: 'sleeper', ms: 0 });
    expectEqual(await stage.result('one'), 'awake', 'the result');
  }),
  sleep('an invalid duration is rejected', async (stage) => {
    await stage.start('one', { routine: 'badDurations' });
    const found = (await stage.result('one')) as { kind: string }[];
    expectEqual(
      found.map(({ kind }) => kind),
      ['invalid', 'invalid', 'invalid'],
      'the kinds of the errors',
    );
  }),
  sleepAfterReopening('a sleep that ended while the runner was closed is over', async (stage) => {
    const ms = stage.stretched(200);
    await stage.start('one', { routine: 'sleeper', ms });
    await stage.reached('one', 'recorded');
    await stage.reopen(() => stage.place.advance(ms + 50));
    expectEqual(await stage.result('one'), 'awake', 'the result');
    await stage.expectLines('one', 'before', 1);
  }),
  group(
    'sleep',
    'reopen',
    'precise',
  )('reopening does not restart a sleep', async (stage) => {
    const began = stage.place.now();
    await stage.start('one', { routine: 'sleeper', ms: 250 });
    await stage.reached('one', 'recorded');
    await stage.place.advance(150);
    await stage.reopen();
    await stage.expectLines('one', 'after', 0);
    await stage.result('one');
    const took = stage.place.now() - began;
    expect(took >= 249 && took < 380, `about 250 ms, found ${took}`);
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
  wait('a wait with a timeout ends with undefined', async (stage) => {
    const began = stage.place.now();
    await stage.start('one', { routine: 'waiter', timeoutMs: 100 });
    expectEqual(await stage.result('one'), none, 'the result');
    const took = stage.place.now() - began;
    expect(took >= 99, `at least 100 ms, found ${took}`);
  }),
  wait('a signal before the timeout counts', async (stage) => {
    await stage.start('one', { routine: 'waiter', timeoutMs: 5000 });
    await stage.signal('one', 'go', 'x');
    expectEqual(await stage.result('one'), [{ value: 'x' }], 'the result');
  }),
  wait('null is a valid signal value', async (stage) => {
    await stage.start('one', { routine: 'waiter', timeoutMs: 5000 });
    await stage.signal('one', 'go', null);
    expectEqual(await stage.result('one'), [{ value: null }], 'the result');
  }),
  wait('a signal reaches only one run', async (stage) => {
    await stage.start('one', { routine: 'waiter', timeoutMs: 80 });
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
  waitAfterReopening('a timeout stays a timeout, even if the signal arrives later', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'second'], timeoutMs: 100 });
    await stage.reached('one', 'recorded');
    await stage.reopen(() => stage.place.advance(120));
    await stage.signal('one', 'second', 2);
    const [first] = (await stage.result('one')) as Json[];
    expectEqual(first, 'timed out', 'the first value');
  }),
];

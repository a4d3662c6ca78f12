import type { Json } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import { maxResultBytes } from '@cobbler/agent/values';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const sleep = group('sleep');
const wait = group('signal');
const sleepAfterReopening = group('sleep', 'reopen');
const waitAfterReopening = group('signal', 'reopen');

const none = ['nothing came'];

export const waitCases: readonly RunnerCase[] = [
  sleep('a run sleeps for as long as it should', async (stage) => {
    const began = stage.place.now();
    await stage.start('one', { routine: 'sleeper', ms: 150 });
    await stage.reached('one', 'recorded');
    expectEqual(await stage.state('one'), 'running', 'its state meanwhile');
    expectEqual(await stage.result('one'), 'awake', 'the result');
    const took = stage.place.now() - began;
    expect(took >= 149, `at least 150 ms, found ${took}`);
  }),
  sleep('a sleep of no time passes', async (stage) => {
    await stage.start('one', { routine: 'sleeper', ms: 0 });
    expectEqual(await stage.result('one'), 'awake', 'the result');
  }),
  sleep('what is no duration is refused', async (stage) => {
    await stage.start('one', { routine: 'badDurations' });
    const found = (await stage.result('one')) as { kind: string }[];
    expectEqual(
      found.map(({ kind }) => kind),
      ['invalid', 'invalid', 'invalid'],
      'the refusals',
    );
  }),
  sleepAfterReopening('a sleep that is over meanwhile passes', async (stage) => {
    await stage.start('one', { routine: 'sleeper', ms: 200 });
    await stage.reached('one', 'recorded');
    await stage.reopen(() => stage.place.advance(250));
    expectEqual(await stage.result('one'), 'awake', 'the result');
    await stage.expectLines('one', 'before', 1);
  }),
  group(
    'sleep',
    'reopen',
    'precise',
  )('a sleep does not begin anew', async (stage) => {
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
  wait('a signal wakes who waits for it', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.reached('one', 'recorded');
    await stage.place.advance(20);
    expectEqual(await stage.signal('one', 'go', { a: [1] }), true, 'whether it was taken');
    expectEqual(await stage.result('one'), [{ value: { a: [1] } }], 'the result');
  }),
  wait('a signal that comes before it is waited for is kept', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'second'] });
    expectEqual(await stage.signal('one', 'second', 2), true, 'whether it was taken');
    await stage.signal('one', 'first', 1);
    expectEqual(await stage.result('one'), [{ value: 1 }, { value: 2 }], 'the result');
  }),
  wait('of two signals the first counts', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'go'] });
    expectEqual(await stage.signal('one', 'go', 1), true, 'whether the first was taken');
    expectEqual(await stage.signal('one', 'go', 2), false, 'whether the second was taken');
    await stage.signal('one', 'first', 0);
    expectEqual(await stage.result('one'), [{ value: 0 }, { value: 1 }], 'the result');
  }),
  wait('who waits only so long goes on with nothing', async (stage) => {
    const began = stage.place.now();
    await stage.start('one', { routine: 'waiter', timeoutMs: 100 });
    expectEqual(await stage.result('one'), none, 'the result');
    const took = stage.place.now() - began;
    expect(took >= 99, `at least 100 ms, found ${took}`);
  }),
  wait('a signal in time counts though there is a limit', async (stage) => {
    await stage.start('one', { routine: 'waiter', timeoutMs: 5000 });
    await stage.signal('one', 'go', 'x');
    expectEqual(await stage.result('one'), [{ value: 'x' }], 'the result');
  }),
  wait('null is a value like any other', async (stage) => {
    await stage.start('one', { routine: 'waiter', timeoutMs: 5000 });
    await stage.signal('one', 'go', null);
    expectEqual(await stage.result('one'), [{ value: null }], 'the result');
  }),
  wait('a signal is for one run only', async (stage) => {
    await stage.start('one', { routine: 'waiter', timeoutMs: 80 });
    await stage.start('two', { routine: 'waiter' });
    await stage.signal('two', 'go', 2);
    expectEqual(await stage.result('two'), [{ value: 2 }], 'the result of the one signalled');
    expectEqual(await stage.result('one'), none, 'the result of the other');
  }),
  wait('a run that is over takes no signal', async (stage) => {
    await stage.start('one', { routine: 'echo' });
    await stage.result('one');
    expectEqual(await stage.signal('one', 'go'), false, 'whether it was taken');
  }),
  wait('a signal that JSON cannot hold, or too large, is refused', async (stage) => {
    await stage.start('one', { routine: 'waiter', measure: true });
    const odd = { odd: new Map() as unknown as Json, more: 'x'.repeat(maxResultBytes - 1) };
    const codes: (string | undefined)[] = [];
    for (const value of Object.values(odd))
      codes.push((await stage.refusal(() => stage.signal('one', 'go', value), 'the signal')).code);
    expectEqual(codes, ['not_json', 'too_large'], 'the refusals');
    await stage.signal('one', 'go', 'x'.repeat(maxResultBytes - 2));
    expectEqual(await stage.result('one'), [{ value: maxResultBytes - 2 }], 'the length of one that passes');
  }),
  waitAfterReopening('a signal from before is still there', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'second'] });
    await stage.reached('one', 'recorded');
    await stage.signal('one', 'second', 2);
    await stage.reopen();
    await stage.signal('one', 'first', 1);
    expectEqual(await stage.result('one'), [{ value: 1 }, { value: 2 }], 'the result');
    await stage.expectLines('one', 'before', 1);
  }),
  waitAfterReopening('what timed out has timed out, whatever comes later', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'second'], timeoutMs: 100 });
    await stage.reached('one', 'recorded');
    await stage.reopen(() => stage.place.advance(120));
    await stage.signal('one', 'second', 2);
    const [first] = (await stage.result('one')) as Json[];
    expectEqual(first, 'nothing came', 'what came first');
  }),
];

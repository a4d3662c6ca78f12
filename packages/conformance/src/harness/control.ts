import { isStored, textOf } from '@cobbler/agent';
import { assertValidHistory, expect, expectEqual } from '@cobbler/agent/testing';
import type { HarnessCase } from './cases.ts';
import { group } from './cases.ts';
import { endOf, eventsOf, seen } from './environment.ts';

const one = group('one prompt at a time');

export const busyCases: readonly HarnessCase[] = [
  one('a second prompt is refused and nothing of it is recorded [S4.6]', async ({ harness, log }) => {
    const first = harness.prompt('hang');
    await seen(first, 'user');
    const second = harness.prompt('say Too soon.');
    const { status, error } = await endOf(second);
    expectEqual([status, error?.kind, error?.code], ['failed', 'invalid', 'busy'], 'the end of the second');
    expectEqual(error?.message, 'another prompt is already in progress', 'what it says');
    expectEqual(
      (await log()).map(({ type }) => type),
      ['user'],
      'the log',
    );
    first.cancel();
    await endOf(first);
  }),
  one('a second prompt is refused at the very moment of the first [S4.6]', async ({ harness }) => {
    const [first, second] = [harness.prompt('say One.'), harness.prompt('say Two.')];
    expectEqual((await endOf(second)).error?.code, 'busy', 'the end of the second');
    expectEqual((await endOf(first)).text, 'One.', 'the first');
  }),
  one('to resume while a prompt runs is refused too [S4.6]', async ({ harness }) => {
    const first = harness.prompt('hang');
    await seen(first, 'user');
    expectEqual((await endOf(harness.resume())).error?.code, 'busy', 'the end');
    first.cancel();
    await endOf(first);
  }),
  one(
    'a refused run ends like any other: its last event is finished, which no log has [P13]',
    async ({ harness }) => {
      const first = harness.prompt('hang');
      await seen(first, 'user');
      const events = await eventsOf(harness.prompt('say Two.'));
      expectEqual(
        events.map(({ type }) => type),
        ['started', 'finished'],
        'its events',
      );
      expectEqual(events.filter(isStored), [], 'its events with a place');
      first.cancel();
      await endOf(first);
    },
  ),
];

const stopping = group('cancel');

export const cancelCases: readonly HarnessCase[] = [
  stopping('cancel stops the running prompt, and the next one works [S4.7]', async ({ harness }) => {
    const run = harness.prompt('hang');
    await seen(run, 'user');
    expectEqual(harness.cancel(), true, 'whether it was heard');
    const result = await endOf(run);
    expectEqual([result.status, result.error?.kind], ['cancelled', 'aborted'], 'the end');
    assertValidHistory(result.messages);
    expectEqual((await endOf(harness.prompt('say On.'))).text, 'On.', 'the next prompt');
  }),
  stopping('cancel with nothing running does nothing [S4.7]', async ({ harness, log }) => {
    expectEqual(harness.cancel(), false, 'whether it was heard');
    await endOf(harness.prompt('say One.'));
    expectEqual(harness.cancel(), false, 'whether it was heard');
    expect(!(await log()).some(({ type }) => type === 'stop_requested'), 'no stop in the log');
  }),
  stopping('the signal of a prompt cancels it [S4.5]', async ({ harness }) => {
    const stop = new AbortController();
    const run = harness.prompt('hang', { signal: stop.signal });
    await seen(run, 'user');
    stop.abort();
    expectEqual((await endOf(run)).status, 'cancelled', 'the status');
  }),
  stopping('a prompt whose signal is aborted already asks nothing', async ({ harness }) => {
    const { status, metrics } = await endOf(harness.prompt('hang', { signal: AbortSignal.abort() }));
    expectEqual([status, metrics.invocations], ['cancelled', 0], 'the end');
  }),
  stopping('the run itself can be cancelled, right after it was started', async ({ harness }) => {
    const run = harness.prompt('hang');
    expectEqual(run.cancel(), true, 'whether it was heard');
    expectEqual((await endOf(run)).status, 'cancelled', 'the status');
    expectEqual(run.cancel(), false, 'whether a late one was heard');
  }),
];

const steering = group('steer', ['steer', 'calls']);

export const steerCases: readonly HarnessCase[] = [
  steering('what is said during a run is heard at the next turn', async ({ harness, log }) => {
    const run = harness.prompt('listen');
    await seen(run, 'user');
    expectEqual(harness.steer('say Enough.'), true, 'whether it was taken');
    const result = await endOf(run);
    const steered = (await log()).filter((event) => event.type === 'user' && event.steer === true);
    expectEqual(steered.length, 1, 'how often it is in the log');
    expectEqual([result.status, result.text], ['complete', 'Enough.'], 'the end');
    assertValidHistory(result.messages);
  }),
  steering('nothing is steered when nothing runs', async ({ harness }) => {
    expectEqual(harness.steer('say Hello.'), false, 'whether it was taken');
    await endOf(harness.prompt('say One.'));
    expectEqual(harness.steer('say Hello.'), false, 'whether it was taken');
  }),
];

const forking = group('fork', ['fork']);

export const forkCases: readonly HarnessCase[] = [
  forking('a fork goes its own way from where it begins', async ({ harness, log }) => {
    await endOf(harness.prompt('say One.'));
    const fork = await harness.fork();
    expect(fork.sessionId !== harness.sessionId, 'a session of its own');
    const result = await endOf(fork.prompt('count'));
    expectEqual(result.messages.map(textOf), ['say One.', 'One.', 'count', '2'], 'the fork');
    expectEqual((await log()).length, 3, 'the log of the first');
    await fork.close();
  }),
  forking('a fork at an event forgets what came after it', async ({ harness, log }) => {
    await endOf(harness.prompt('say One.'));
    const upToSeq = (await log()).length;
    await endOf(harness.prompt('say Two.'));
    const fork = await harness.fork({ upToSeq });
    expectEqual((await endOf(fork.prompt('count'))).text, '2', 'what the model saw');
    await fork.close();
  }),
  forking('a fork at an event that is not there is refused', async ({ harness }) => {
    await endOf(harness.prompt('say One.'));
    const refusal = await harness.fork({ upToSeq: 99 }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expectEqual((refusal as { kind?: string } | undefined)?.kind, 'invalid', 'the refusal');
  }),
];

import { isStored, textOf } from '@cobbler/agent';
import { assertValidHistory, expect, expectEqual } from '@cobbler/agent/testing';
import type { HarnessCase } from './case.ts';
import { group } from './case.ts';
import { endOf, eventsOf, seen } from './environment.ts';

const one = group('one prompt at a time');

export const busyCases: readonly HarnessCase[] = [
  one('a second prompt is rejected and not recorded [S4.6]', async ({ harness, log }) => {
    const first = harness.prompt('hang');
    await seen(first, 'user');
    const second = harness.prompt('say Too soon.');
    const { status, error } = await endOf(second);
    expectEqual(
      [status, error?.kind, error?.code],
      ['failed', 'invalid', 'busy'],
      'the outcome of the second prompt',
    );
    expectEqual(error?.message, 'another prompt is already in progress', 'the error message');
    expectEqual(
      (await log()).map(({ type }) => type),
      ['user'],
      'the log',
    );
    first.cancel();
    await endOf(first);
  }),
  one('a second prompt sent at the same moment as the first is rejected [S4.6]', async ({ harness }) => {
    const [first, second] = [harness.prompt('say One.'), harness.prompt('say Two.')];
    expectEqual((await endOf(second)).error?.code, 'busy', 'the outcome of the second prompt');
    expectEqual((await endOf(first)).text, 'One.', 'the first prompt');
  }),
  one('a resume while a prompt runs is rejected too [S4.6]', async ({ harness }) => {
    const first = harness.prompt('hang');
    await seen(first, 'user');
    expectEqual((await endOf(harness.resume())).error?.code, 'busy', 'the outcome');
    first.cancel();
    await endOf(first);
  }),
  one(
    'a rejected run ends like any other: its last event is finished, but it is not stored [P13]',
    async ({ harness }) => {
      const first = harness.prompt('hang');
      await seen(first, 'user');
      const events = await eventsOf(harness.prompt('say Two.'));
      expectEqual(
        events.map(({ type }) => type),
        ['started', 'finished'],
        'the events of the rejected run',
      );
      expectEqual(events.filter(isStored), [], 'the events with a sequence number');
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
    expectEqual(harness.cancel(), true, 'whether the cancel was accepted');
    const result = await endOf(run);
    expectEqual([result.status, result.error?.kind], ['cancelled', 'aborted'], 'the outcome');
    assertValidHistory(result.messages);
    expectEqual((await endOf(harness.prompt('say On.'))).text, 'On.', 'the next prompt');
  }),
  stopping('cancel without a running prompt does nothing [S4.7]', async ({ harness, log }) => {
    expectEqual(harness.cancel(), false, 'whether the cancel was accepted');
    await endOf(harness.prompt('say One.'));
    expectEqual(harness.cancel(), false, 'whether the cancel was accepted');
    expect(!(await log()).some(({ type }) => type === 'stop_requested'), 'no stop in the log');
  }),
  stopping('the signal of a prompt cancels it [S4.5]', async ({ harness }) => {
    const stop = new AbortController();
    const run = harness.prompt('hang', { signal: stop.signal });
    await seen(run, 'user');
    stop.abort();
    expectEqual((await endOf(run)).status, 'cancelled', 'the status');
  }),
  stopping('a prompt whose signal is already aborted makes no request', async ({ harness }) => {
    const { status, metrics } = await endOf(harness.prompt('hang', { signal: AbortSignal.abort() }));
    expectEqual([status, metrics.invocations], ['cancelled', 0], 'the outcome');
  }),
  stopping('a run can be cancelled right after its start', async ({ harness }) => {
    const run = harness.prompt('hang');
    expectEqual(run.cancel(), true, 'whether the cancel was accepted');
    expectEqual((await endOf(run)).status, 'cancelled', 'the status');
    expectEqual(run.cancel(), false, 'whether a late cancel was accepted');
  }),
];

const steering = group('steer', ['steer', 'calls']);

export const steerCases: readonly HarnessCase[] = [
  steering('a message sent during a run reaches the next turn', async ({ harness, log }) => {
    const run = harness.prompt('listen');
    await seen(run, 'user');
    expectEqual(harness.steer('say Enough.'), true, 'whether the message was accepted');
    const result = await endOf(run);
    const steered = (await log()).filter((event) => event.type === 'user' && event.steer === true);
    expectEqual(steered.length, 1, 'the number of times the message is in the log');
    expectEqual([result.status, result.text], ['complete', 'Enough.'], 'the outcome');
    assertValidHistory(result.messages);
  }),
  steering('steering without a run is not accepted', async ({ harness }) => {
    expectEqual(harness.steer('say Hello.'), false, 'whether the message was accepted');
    await endOf(harness.prompt('say One.'));
    expectEqual(harness.steer('say Hello.'), false, 'whether the message was accepted');
  }),
];

const forking = group('fork', ['fork']);

export const forkCases: readonly HarnessCase[] = [
  forking('a fork continues independently of its session', async ({ harness, log }) => {
    await endOf(harness.prompt('say One.'));
    const fork = await harness.fork();
    expect(fork.sessionId !== harness.sessionId, 'a separate session');
    const result = await endOf(fork.prompt('count'));
    expectEqual(result.messages.map(textOf), ['say One.', 'One.', 'count', '2'], 'the fork');
    expectEqual((await log()).length, 3, 'the log of the original session');
    await fork.close();
  }),
  forking('a fork at an event contains nothing that came after it', async ({ harness, log }) => {
    await endOf(harness.prompt('say One.'));
    const upToSeq = (await log()).length;
    await endOf(harness.prompt('say Two.'));
    const fork = await harness.fork({ upToSeq });
    expectEqual(
      (await endOf(fork.prompt('count'))).text,
      '2',
      'the number of messages that the model received',
    );
    await fork.close();
  }),
  forking('a fork at an unknown event is rejected', async ({ harness }) => {
    await endOf(harness.prompt('say One.'));
    const refusal = await harness.fork({ upToSeq: 99 }).then(
      () => undefined,
      (error: unknown) => error,
    );
    expectEqual((refusal as { kind?: string } | undefined)?.kind, 'invalid', 'the error');
  }),
];

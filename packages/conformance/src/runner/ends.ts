import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase } from './case.ts';
import { group } from './case.ts';

const crash = group('crash', 'crash');
const close = group('close', 'close');

export const endCases: readonly RunnerCase[] = [
  crash('a run that was just started is not lost', async (setup) => {
    await setup.start('one', { workflow: 'steps', count: 2 });
    await setup.crash();
    const { sum } = (await setup.result('one')) as { sum: number };
    expectEqual(sum, 1, 'the sum');
  }),
  crash('a step that a crash interrupts runs again with the same key', async (setup) => {
    await setup.start('one', { workflow: 'hanging', isDeaf: true });
    await setup.untilReached('one', 'in');
    await setup.crash();
    await setup.untilReached('one', 'in', 2);
    await setup.leave('one', 'release');
    expectEqual(await setup.result('one'), null, 'the result');
    const [first, second] = await setup.lines('one', 'in');
    expectEqual(second, first, 'the key');
    await setup.expectLines('one', 'after', 1);
  }),
  crash('a crash between actions repeats none that the own data of the run has', async (setup) => {
    await setup.start('one', { workflow: 'steps', count: 5, waitAfter: 2 });
    await setup.untilReached('one', 'recorded');
    await setup.place.advance(20);
    await setup.crash();
    await setup.signal('one', 'go');
    expectEqual(await setup.result('one'), { sum: 10 }, 'the sum');
    for (const mark of ['s0', 's1', 's2', 's3', 's4']) await setup.expectLines('one', mark, 1);
  }),
  crash('a run that waits for a time during a crash continues', async (setup) => {
    const until = setup.place.now() + setup.stretched(200);
    await setup.start('one', { workflow: 'sleeper', until });
    await setup.untilReached('one', 'recorded');
    await setup.place.advance(40);
    await setup.crash(() => setup.place.advance(100));
    expectEqual(await setup.result('one'), 'awake', 'the result');
    for (const mark of ['before', 'after']) await setup.expectLines('one', mark, 1);
  }),
  crash('a run that waits during a crash keeps earlier signals and accepts later ones', async (setup) => {
    await setup.start('one', { workflow: 'waiter', names: ['first', 'second', 'third'] });
    await setup.untilReached('one', 'recorded');
    await setup.signal('one', 'first', 1);
    await setup.signal('one', 'third', 3);
    await setup.place.advance(20);
    await setup.crash();
    expectEqual(await setup.signal('one', 'first', 4), false, 'whether a second signal is accepted');
    await setup.signal('one', 'second', 2);
    expectEqual(await setup.result('one'), [{ value: 1 }, { value: 2 }, { value: 3 }], 'the result');
  }),
  crash('a cancelled run stays cancelled', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    await setup.untilReached('one', 'recorded');
    await setup.cancel('one');
    await setup.crash();
    expectEqual(await setup.state('one'), 'cancelled', 'the state');
  }),
  group(
    'crash',
    'crash',
    'keys',
  )('queued runs keep their order', async (setup) => {
    const names = ['a', 'b', 'c'];
    const mark = setup.id('turns');
    for (const name of names)
      await setup.start(name, { workflow: 'turn', mark, name, wait: true }, { key: 'k' });
    await setup.crash();
    for (const name of names.toReversed()) await setup.signal(name, 'go');
    for (const name of names) await setup.result(name);
    const ends = (await setup.place.counter.list(mark)).filter((line) => line.startsWith('-'));
    expectEqual(ends, ['-a', '-b', '-c'], 'the order in which the runs ended');
  }),
  close('a closed runner accepts no calls', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    await setup.runner.close();
    const refused = [
      () => setup.start('two', { workflow: 'echo' }),
      () => setup.signal('one', 'go'),
      () => setup.cancel('one'),
      () => setup.state('one'),
      () => setup.result('one'),
    ];
    for (const work of refused) {
      const { kind, code } = await setup.refusal(work, 'a call');
      expectEqual({ kind, code }, { kind: 'invalid', code: 'closed' }, 'the error');
    }
    await setup.runner.close();
  }),
  close('close stops a running step, and a pending result rejects', async (setup) => {
    await setup.start('one', { workflow: 'hanging' });
    const failure = setup.failure('one');
    await setup.untilReached('one', 'in');
    await setup.runner.close();
    expectEqual((await failure).code, 'closed', 'the error code of the result');
    await setup.untilReached('one', 'out');
    expectEqual(await setup.lines('one', 'out'), ['stopped'], 'whether the step was stopped');
    await setup.expectLines('one', 'after', 0);
  }),
  group(
    'close',
    'close',
    'timers',
  )('close leaves no timer, whatever was running', async (setup) => {
    await setup.start('sleeps', { workflow: 'sleeper', until: setup.place.now() + 200 });
    await setup.start('waits', { workflow: 'waiter', until: setup.place.now() + 200 });
    await setup.start('hangs', { workflow: 'hanging' });
    const retry = { retries: 5, firstMs: 200 };
    await setup.start('tries', { workflow: 'failing', failures: 9, error: 'broken', retry });
    for (const [run, mark] of Object.entries({
      sleeps: 'recorded',
      waits: 'recorded',
      hangs: 'in',
      tries: 'attempt',
    }))
      await setup.untilReached(run, mark);
    await setup.place.advance(20);
    await setup.runner.close();
    expectEqual(setup.place.timers?.(), 0, 'the number of timers left');
  }),
  group('close', 'timers')('a run that has ended leaves no timer', async (setup) => {
    await setup.start('probe', { workflow: 'echo' });
    await setup.result('probe');
    const before = setup.place.timers?.();
    await setup.start('one', { workflow: 'steps', count: 3 });
    await setup.start('two', { workflow: 'waiter', until: setup.place.now() + 4000 });
    await setup.signal('two', 'go');
    await setup.start('three', { workflow: 'hanging', timeoutMs: 20 });
    for (const run of ['one', 'two', 'three']) await setup.result(run);
    expectEqual(setup.place.timers?.(), before, 'the number of timers left');
  }),
];

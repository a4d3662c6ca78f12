import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const crash = group('crash', 'crash');
const close = group('close', 'close');

export const endCases: readonly RunnerCase[] = [
  crash('a run that was just started is not lost', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 2 });
    await stage.crash();
    const { sum } = (await stage.result('one')) as { sum: number };
    expectEqual(sum, 1, 'the sum');
  }),
  crash('a step that a crash interrupts runs again with the same key', async (stage) => {
    await stage.start('one', { routine: 'hanging', isDeaf: true });
    await stage.reached('one', 'in');
    await stage.crash();
    await stage.reached('one', 'in', 2);
    await stage.leave('one', 'release');
    expectEqual(await stage.result('one'), null, 'the result');
    const [first, second] = await stage.lines('one', 'in');
    expectEqual(second, first, 'the key');
    await stage.expectLines('one', 'after', 1);
  }),
  crash('a crash between actions repeats none that the own data of the run has', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 5, waitAfter: 2 });
    await stage.reached('one', 'recorded');
    await stage.place.advance(20);
    await stage.crash();
    await stage.signal('one', 'go');
    expectEqual(await stage.result('one'), { sum: 10 }, 'the sum');
    for (const mark of ['s0', 's1', 's2', 's3', 's4']) await stage.expectLines('one', mark, 1);
  }),
  crash('a run that waits for a time during a crash continues', async (stage) => {
    const until = stage.place.now() + stage.stretched(200);
    await stage.start('one', { routine: 'sleeper', until });
    await stage.reached('one', 'recorded');
    await stage.place.advance(40);
    await stage.crash(() => stage.place.advance(100));
    expectEqual(await stage.result('one'), 'awake', 'the result');
    for (const mark of ['before', 'after']) await stage.expectLines('one', mark, 1);
  }),
  crash('a run that waits during a crash keeps earlier signals and accepts later ones', async (stage) => {
    await stage.start('one', { routine: 'waiter', names: ['first', 'second', 'third'] });
    await stage.reached('one', 'recorded');
    await stage.signal('one', 'first', 1);
    await stage.signal('one', 'third', 3);
    await stage.place.advance(20);
    await stage.crash();
    expectEqual(await stage.signal('one', 'first', 4), false, 'whether a second signal is accepted');
    await stage.signal('one', 'second', 2);
    expectEqual(await stage.result('one'), [{ value: 1 }, { value: 2 }, { value: 3 }], 'the result');
  }),
  crash('a cancelled run stays cancelled', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.reached('one', 'recorded');
    await stage.cancel('one');
    await stage.crash();
    expectEqual(await stage.state('one'), 'cancelled', 'the state');
  }),
  group(
    'crash',
    'crash',
    'keys',
  )('queued runs keep their order', async (stage) => {
    const names = ['a', 'b', 'c'];
    const mark = stage.id('turns');
    for (const name of names)
      await stage.start(name, { routine: 'turn', mark, name, wait: true }, { key: 'k' });
    await stage.crash();
    for (const name of names.toReversed()) await stage.signal(name, 'go');
    for (const name of names) await stage.result(name);
    const ends = (await stage.place.counter.list(mark)).filter((line) => line.startsWith('-'));
    expectEqual(ends, ['-a', '-b', '-c'], 'the order in which the runs ended');
  }),
  close('a closed runner accepts no calls', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.runner.close();
    const refused = [
      () => stage.start('two', { routine: 'echo' }),
      () => stage.signal('one', 'go'),
      () => stage.cancel('one'),
      () => stage.state('one'),
      () => stage.result('one'),
    ];
    for (const work of refused) {
      const { kind, code } = await stage.refusal(work, 'a call');
      expectEqual({ kind, code }, { kind: 'invalid', code: 'closed' }, 'the error');
    }
    await stage.runner.close();
  }),
  close('close stops a running step, and a pending result rejects', async (stage) => {
    await stage.start('one', { routine: 'hanging' });
    const failure = stage.failure('one');
    await stage.reached('one', 'in');
    await stage.runner.close();
    expectEqual((await failure).code, 'closed', 'the error code of the result');
    await stage.reached('one', 'out');
    expectEqual(await stage.lines('one', 'out'), ['stopped'], 'whether the step was stopped');
    await stage.expectLines('one', 'after', 0);
  }),
  group(
    'close',
    'close',
    'timers',
  )('close leaves no timer, whatever was running', async (stage) => {
    await stage.start('sleeps', { routine: 'sleeper', until: stage.place.now() + 200 });
    await stage.start('waits', { routine: 'waiter', until: stage.place.now() + 200 });
    await stage.start('hangs', { routine: 'hanging' });
    const retry = { retries: 5, firstMs: 200 };
    await stage.start('tries', { routine: 'failing', failures: 9, error: 'broken', retry });
    for (const [run, mark] of Object.entries({
      sleeps: 'recorded',
      waits: 'recorded',
      hangs: 'in',
      tries: 'attempt',
    }))
      await stage.reached(run, mark);
    await stage.place.advance(20);
    await stage.runner.close();
    expectEqual(stage.place.timers?.(), 0, 'the number of timers left');
  }),
  group('close', 'timers')('a run that has ended leaves no timer', async (stage) => {
    await stage.start('probe', { routine: 'echo' });
    await stage.result('probe');
    const before = stage.place.timers?.();
    await stage.start('one', { routine: 'steps', count: 3 });
    await stage.start('two', { routine: 'waiter', until: stage.place.now() + 4000 });
    await stage.signal('two', 'go');
    await stage.start('three', { routine: 'hanging', timeoutMs: 20 });
    for (const run of ['one', 'two', 'three']) await stage.result(run);
    expectEqual(stage.place.timers?.(), before, 'the number of timers left');
  }),
];

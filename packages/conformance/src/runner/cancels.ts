import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase, RunnerStage } from './cases.ts';
import { group } from './cases.ts';

const the = group('cancel');

async function expectCancelled(stage: RunnerStage, run: string): Promise<void> {
  expectEqual(await stage.state(run), 'cancelled', 'the state');
  expectEqual((await stage.failure(run)).kind, 'aborted', 'what its result is');
}

export const cancelCases: readonly RunnerCase[] = [
  the('a step under way is told to stop at once', async (stage) => {
    await stage.start('one', { routine: 'hanging' });
    await stage.reached('one', 'in');
    expectEqual(await stage.cancel('one'), true, 'whether it was cancelled');
    await expectCancelled(stage, 'one');
    await stage.reached('one', 'out');
    expectEqual(await stage.lines('one', 'out'), ['stopped'], 'whether the step was told');
    await stage.expectLines('one', 'after', 0);
  }),
  the('a step that does not stop holds up nothing, and no step follows it', async (stage) => {
    await stage.start('one', { routine: 'hanging', isDeaf: true });
    await stage.reached('one', 'in');
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
    await stage.leave('one', 'release');
    await stage.reached('one', 'out');
    await stage.place.advance(20);
    await stage.expectLines('one', 'after', 0);
  }),
  the('a routine that catches its end can begin no step', async (stage) => {
    await stage.start('one', { routine: 'hanging' });
    await stage.reached('one', 'in');
    await stage.cancel('one');
    await stage.reached('one', 'refused');
    expectEqual(await stage.lines('one', 'refused'), ['aborted'], 'what the step was refused with');
  }),
  the('a run that sleeps', async (stage) => {
    await stage.start('one', { routine: 'sleeper', ms: 100 });
    await stage.reached('one', 'recorded');
    expectEqual(await stage.cancel('one'), true, 'whether it was cancelled');
    await expectCancelled(stage, 'one');
    await stage.place.advance(150);
    await stage.expectLines('one', 'after', 0);
  }),
  the('a run that waits', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.reached('one', 'recorded');
    expectEqual(await stage.cancel('one'), true, 'whether it was cancelled');
    await expectCancelled(stage, 'one');
    expectEqual(await stage.signal('one', 'go'), false, 'whether it takes a signal');
    await stage.place.advance(20);
    await stage.expectLines('one', 'after', 0);
  }),
  the('a run between two steps', async (stage) => {
    await stage.start('one', { routine: 'between' });
    await stage.reached('one', 'recorded');
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
    await stage.reached('one', 'stopped');
  }),
  the('a run between two attempts', async (stage) => {
    const retry = { retries: 5, firstMs: 60 };
    await stage.start('one', { routine: 'failing', failures: 9, error: 'broken', retry });
    await stage.reached('one', 'attempt');
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
    const { length } = await stage.lines('one', 'attempt');
    await stage.place.advance(200);
    await stage.expectLines('one', 'attempt', length);
  }),
  the('a run that is done stays done', async (stage) => {
    await stage.start('one', { routine: 'echo', value: 1 });
    await stage.result('one');
    expectEqual(await stage.cancel('one'), false, 'whether it was cancelled');
    expectEqual(await stage.state('one'), 'done', 'the state');
  }),
  the('a run is cancelled once', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    expectEqual(await stage.cancel('one'), true, 'whether it was cancelled');
    expectEqual(await stage.cancel('one'), false, 'whether it was cancelled again');
    expectEqual(await stage.start('one', { routine: 'echo' }), false, 'whether it can be started again');
  }),
  the('who waits for the result hears of it', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    const failure = stage.failure('one');
    await stage.reached('one', 'recorded');
    await stage.cancel('one');
    expectEqual((await failure).kind, 'aborted', 'what is heard');
  }),
  group('cancel', 'reopen')('a run that was cancelled is not taken up again', async (stage) => {
    await stage.start('one', { routine: 'sleeper', ms: 60 });
    await stage.reached('one', 'recorded');
    await stage.cancel('one');
    await stage.reopen(() => stage.place.advance(80));
    await stage.place.advance(40);
    await expectCancelled(stage, 'one');
    await stage.expectLines('one', 'after', 0);
  }),
  group('cancel', 'reopen')('a run that was taken up again can be cancelled', async (stage) => {
    await stage.start('one', { routine: 'hanging' });
    await stage.reached('one', 'in');
    await stage.reopen();
    await stage.reached('one', 'in', 2);
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
  }),
];

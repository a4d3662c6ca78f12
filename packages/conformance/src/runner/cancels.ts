import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase, RunnerStage } from './cases.ts';
import { group } from './cases.ts';

const the = group('cancel');

async function expectCancelled(stage: RunnerStage, run: string): Promise<void> {
  expectEqual(await stage.state(run), 'cancelled', 'the state');
  expectEqual((await stage.failure(run)).kind, 'aborted', 'the kind of the error');
}

export const cancelCases: readonly RunnerCase[] = [
  the('a running step is stopped immediately', async (stage) => {
    await stage.start('one', { routine: 'hanging' });
    await stage.reached('one', 'in');
    expectEqual(await stage.cancel('one'), true, 'whether the run was cancelled');
    await expectCancelled(stage, 'one');
    await stage.reached('one', 'out');
    expectEqual(await stage.lines('one', 'out'), ['stopped'], 'whether the step was stopped');
    await stage.expectLines('one', 'after', 0);
  }),
  the('a step that ignores the cancel delays nothing, and no step follows it', async (stage) => {
    await stage.start('one', { routine: 'hanging', isDeaf: true });
    await stage.reached('one', 'in');
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
    await stage.leave('one', 'release');
    await stage.reached('one', 'out');
    await stage.place.advance(20);
    await stage.expectLines('one', 'after', 0);
  }),
  the('a routine that catches the cancel cannot start a step', async (stage) => {
    await stage.start('one', { routine: 'hanging' });
    await stage.reached('one', 'in');
    await stage.cancel('one');
    await stage.reached('one', 'refused');
    expectEqual(await stage.lines('one', 'refused'), ['aborted'], "the kind of the step's error");
  }),
  the('a sleeping run can be cancelled', async (stage) => {
    const ms = stage.stretched(200);
    await stage.start('one', { routine: 'sleeper', until: stage.place.now() + ms });
    await stage.reached('one', 'recorded');
    expectEqual(await stage.cancel('one'), true, 'whether the run was cancelled');
    await expectCancelled(stage, 'one');
    await stage.place.advance(ms + 50);
    await stage.expectLines('one', 'after', 0);
  }),
  the('a waiting run can be cancelled', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.reached('one', 'recorded');
    expectEqual(await stage.cancel('one'), true, 'whether the run was cancelled');
    await expectCancelled(stage, 'one');
    expectEqual(await stage.signal('one', 'go'), false, 'whether the run accepts a signal');
    await stage.place.advance(20);
    await stage.expectLines('one', 'after', 0);
  }),
  the('a run can be cancelled between two steps', async (stage) => {
    await stage.start('one', { routine: 'between' });
    await stage.reached('one', 'recorded');
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
    await stage.reached('one', 'stopped');
  }),
  the('a run can be cancelled between two attempts', async (stage) => {
    const retry = { retries: 5, firstMs: 60 };
    await stage.start('one', { routine: 'failing', failures: 9, error: 'broken', retry });
    await stage.reached('one', 'attempt');
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
    const { length } = await stage.lines('one', 'attempt');
    await stage.place.advance(200);
    await stage.expectLines('one', 'attempt', length);
  }),
  the('a completed run cannot be cancelled', async (stage) => {
    await stage.start('one', { routine: 'echo', value: 1 });
    await stage.result('one');
    expectEqual(await stage.cancel('one'), false, 'whether the run was cancelled');
    expectEqual(await stage.state('one'), 'done', 'the state');
  }),
  the('a run is cancelled only once', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    expectEqual(await stage.cancel('one'), true, 'whether the run was cancelled');
    expectEqual(await stage.cancel('one'), false, 'whether the run was cancelled again');
    expectEqual(await stage.start('one', { routine: 'echo' }), false, 'whether the run was started again');
  }),
  the('a cancel rejects a pending result', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    const failure = stage.failure('one');
    await stage.reached('one', 'recorded');
    await stage.cancel('one');
    expectEqual((await failure).kind, 'aborted', 'the kind of the error');
  }),
  group('cancel', 'reopen')('a cancelled run does not resume', async (stage) => {
    const ms = stage.stretched(200);
    await stage.start('one', { routine: 'sleeper', until: stage.place.now() + ms });
    await stage.reached('one', 'recorded');
    await stage.cancel('one');
    await stage.reopen(() => stage.place.advance(ms + 20));
    await stage.place.advance(40);
    await expectCancelled(stage, 'one');
    await stage.expectLines('one', 'after', 0);
  }),
  group('cancel', 'reopen')('a resumed run can be cancelled', async (stage) => {
    await stage.start('one', { routine: 'hanging' });
    await stage.reached('one', 'in');
    await stage.reopen();
    await stage.reached('one', 'in', 2);
    await stage.cancel('one');
    await expectCancelled(stage, 'one');
  }),
];

import { expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase, RunnerSetup } from './case.ts';
import { group } from './case.ts';

const the = group('cancel');

async function expectCancelled(setup: RunnerSetup, run: string): Promise<void> {
  expectEqual(await setup.state(run), 'cancelled', 'the state');
  expectEqual((await setup.failure(run)).kind, 'aborted', 'the kind of the error');
}

export const cancelCases: readonly RunnerCase[] = [
  the('a running step is stopped immediately', async (setup) => {
    await setup.start('one', { workflow: 'hanging' });
    await setup.untilReached('one', 'in');
    expectEqual(await setup.cancel('one'), true, 'whether the run was cancelled');
    await expectCancelled(setup, 'one');
    await setup.untilReached('one', 'out');
    expectEqual(await setup.lines('one', 'out'), ['stopped'], 'whether the step was stopped');
    await setup.expectLines('one', 'after', 0);
  }),
  the('a step that ignores the cancel delays nothing, and no step follows it', async (setup) => {
    await setup.start('one', { workflow: 'hanging', isDeaf: true });
    await setup.untilReached('one', 'in');
    await setup.cancel('one');
    await expectCancelled(setup, 'one');
    await setup.leave('one', 'release');
    await setup.untilReached('one', 'out');
    await setup.place.advance(20);
    await setup.expectLines('one', 'after', 0);
  }),
  the('a workflow that catches the cancel cannot start a step', async (setup) => {
    await setup.start('one', { workflow: 'hanging' });
    await setup.untilReached('one', 'in');
    await setup.cancel('one');
    await setup.untilReached('one', 'refused');
    expectEqual(await setup.lines('one', 'refused'), ['aborted'], "the kind of the step's error");
  }),
  the('a sleeping run can be cancelled', async (setup) => {
    const ms = setup.stretched(200);
    await setup.start('one', { workflow: 'sleeper', until: setup.place.now() + ms });
    await setup.untilReached('one', 'recorded');
    expectEqual(await setup.cancel('one'), true, 'whether the run was cancelled');
    await expectCancelled(setup, 'one');
    await setup.place.advance(ms + 50);
    await setup.expectLines('one', 'after', 0);
  }),
  the('a waiting run can be cancelled', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    await setup.untilReached('one', 'recorded');
    expectEqual(await setup.cancel('one'), true, 'whether the run was cancelled');
    await expectCancelled(setup, 'one');
    expectEqual(await setup.signal('one', 'go'), false, 'whether the run accepts a signal');
    await setup.place.advance(20);
    await setup.expectLines('one', 'after', 0);
  }),
  the('a run can be cancelled between two steps', async (setup) => {
    await setup.start('one', { workflow: 'between' });
    await setup.untilReached('one', 'recorded');
    await setup.cancel('one');
    await expectCancelled(setup, 'one');
    await setup.untilReached('one', 'stopped');
  }),
  the('a run can be cancelled between two attempts', async (setup) => {
    const retry = { retries: 5, firstMs: 60 };
    await setup.start('one', { workflow: 'failing', failures: 9, error: 'broken', retry });
    await setup.untilReached('one', 'attempt');
    await setup.cancel('one');
    await expectCancelled(setup, 'one');
    const { length } = await setup.lines('one', 'attempt');
    await setup.place.advance(200);
    await setup.expectLines('one', 'attempt', length);
  }),
  the('a completed run cannot be cancelled', async (setup) => {
    await setup.start('one', { workflow: 'echo', value: 1 });
    await setup.result('one');
    expectEqual(await setup.cancel('one'), false, 'whether the run was cancelled');
    expectEqual(await setup.state('one'), 'done', 'the state');
  }),
  the('a run is cancelled only once', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    expectEqual(await setup.cancel('one'), true, 'whether the run was cancelled');
    expectEqual(await setup.cancel('one'), false, 'whether the run was cancelled again');
    expectEqual(await setup.start('one', { workflow: 'echo' }), false, 'whether the run was started again');
  }),
  the('a cancel rejects a pending result', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    const failure = setup.failure('one');
    await setup.untilReached('one', 'recorded');
    await setup.cancel('one');
    expectEqual((await failure).kind, 'aborted', 'the kind of the error');
  }),
  group('cancel', 'reopen')('a cancelled run does not resume', async (setup) => {
    const ms = setup.stretched(200);
    await setup.start('one', { workflow: 'sleeper', until: setup.place.now() + ms });
    await setup.untilReached('one', 'recorded');
    await setup.cancel('one');
    await setup.reopen(() => setup.place.advance(ms + 20));
    await setup.place.advance(40);
    await expectCancelled(setup, 'one');
    await setup.expectLines('one', 'after', 0);
  }),
  group('cancel', 'reopen')('a resumed run can be cancelled', async (setup) => {
    await setup.start('one', { workflow: 'hanging' });
    await setup.untilReached('one', 'in');
    await setup.reopen();
    await setup.untilReached('one', 'in', 2);
    await setup.cancel('one');
    await expectCancelled(setup, 'one');
  }),
];

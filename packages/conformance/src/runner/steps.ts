import { expect, expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase } from './case.ts';
import { group } from './case.ts';

const the = group('step');
const afterReopening = group('step', 'reopen');

export const stepCases: readonly RunnerCase[] = [
  the('a step returns what its function returned, whatever it is', async (setup) => {
    await setup.start('one', { workflow: 'anyValue' });
    expectEqual(await setup.result('one'), true, 'whether it was the same value');
  }),
  the('parallel steps each return their own result', async (setup) => {
    await setup.start('one', { workflow: 'parallel', count: 8 });
    expectEqual(await setup.result('one'), [0, 1, 2, 3, 4, 5, 6, 7], 'the results');
  }),
  the('a run can have five hundred steps in one call', async (setup) => {
    await setup.start('one', { workflow: 'many', count: 500 });
    expectEqual(await setup.result('one'), 124_750, 'the sum of their results');
  }),
  the('a checkpoint between two actions loses and repeats nothing', async (setup) => {
    await setup.start('one', { workflow: 'steps', count: 6, isPaced: true });
    expectEqual(await setup.result('one'), { sum: 15 }, 'the sum of their results');
    for (let at = 0; at < 6; at += 1) await setup.expectLines('one', `s${at}`, 1);
  }),
  the('the workflow can catch the error of a step, with its kind, code and message', async (setup) => {
    const error = { kind: 'tool', code: 'odd', message: 'broken ü' };
    await setup.start('one', { workflow: 'failing', failures: 1, error });
    expectEqual(await setup.result('one'), error, 'the error that the workflow caught');
  }),
  the('an ordinary error of a step becomes an AgentError with its message', async (setup) => {
    await setup.start('one', { workflow: 'failing', failures: 1, error: 'broken' });
    expectEqual(
      await setup.result('one'),
      { kind: 'agent', code: null, message: 'broken' },
      'the error that the workflow caught',
    );
  }),
  the('an error that the workflow does not catch fails the run', async (setup) => {
    const error = { kind: 'auth', code: 'key', message: 'refused' };
    await setup.start('one', { workflow: 'failing', failures: 1, error, rethrow: true });
    expectEqual(await setup.failure('one'), error, 'the failure');
  }),
  the('a step has one key in its run, and another in every other run', async (setup) => {
    await setup.start('one', { workflow: 'keys' });
    await setup.start('two', { workflow: 'keys' });
    const [a1, a2, b] = (await setup.result('one')) as string[];
    const [other] = (await setup.result('two')) as string[];
    expectEqual(a2, a1, 'the key of the same name');
    const keys = [a1, b, other].map(String);
    expect(
      new Set(keys).size === 3 && keys.every((key) => key.length > 8),
      `three different keys, found ${keys.join(', ')}`,
    );
  }),
  group('step', 'afterlife')('a step that starts after the run has ended is rejected', async (setup) => {
    await setup.start('one', { workflow: 'afterlife' });
    expectEqual(await setup.result('one'), 'over', 'the result');
    await setup.leave('one', 'over');
    await setup.untilReached('one', 'refused');
    expectEqual(await setup.lines('one', 'refused'), ['invalid'], "the kind of the step's error");
    await setup.expectLines('one', 'ran', 0);
  }),
  group('step', 'afterlife')('a step that starts after its call has ended is rejected', async (setup) => {
    await setup.start('one', { workflow: 'leftBehind' });
    await setup.untilReached('one', 'recorded');
    await setup.place.advance(20);
    await setup.leave('one', 'over');
    await setup.untilReached('one', 'refused');
    await setup.expectLines('one', 'ran', 0);
    await setup.signal('one', 'go');
    expectEqual(await setup.result('one'), 'over', 'the result');
  }),
  afterReopening('a run continues after the actions that its own data has [P13]', async (setup) => {
    await setup.start('one', { workflow: 'steps', count: 12, waitAfter: 5 });
    await setup.untilReached('one', 'recorded');
    await setup.reopen();
    await setup.signal('one', 'go');
    expectEqual(await setup.result('one'), { sum: 66 }, 'the sum');
    for (const mark of ['s0', 's5', 's6', 's11']) await setup.expectLines('one', mark, 1);
  }),
  afterReopening('an interrupted step runs again with the same key', async (setup) => {
    await setup.start('one', { workflow: 'hanging', isDeaf: true });
    await setup.untilReached('one', 'in');
    await setup.reopen();
    await setup.untilReached('one', 'in', 2);
    await setup.leave('one', 'release');
    expectEqual(await setup.result('one'), null, 'the result');
    const [first, second] = await setup.lines('one', 'in');
    expectEqual(second, first, 'the key');
  }),
  afterReopening('results and failures are kept', async (setup) => {
    await setup.start('one', { workflow: 'echo', value: 1 });
    await setup.start('two', { workflow: 'throwing', error: { kind: 'limit', message: 'enough' } });
    await setup.result('one');
    await setup.failure('two');
    await setup.reopen();
    expectEqual(await setup.result('one'), { value: 1 }, 'the result');
    expectEqual(await setup.failure('two'), { kind: 'limit', message: 'enough' }, 'the failure');
    expectEqual(await setup.start('one', { workflow: 'echo' }), false, 'whether the run was started again');
  }),
];

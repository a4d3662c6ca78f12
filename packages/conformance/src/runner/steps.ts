import { expect, expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const the = group('step');
const afterReopening = group('step', 'reopen');

export const stepCases: readonly RunnerCase[] = [
  the('a step returns what its function returned, whatever it is', async (stage) => {
    await stage.start('one', { routine: 'anyValue' });
    expectEqual(await stage.result('one'), true, 'whether it was the same value');
  }),
  the('parallel steps each return their own result', async (stage) => {
    await stage.start('one', { routine: 'parallel', count: 8 });
    expectEqual(await stage.result('one'), [0, 1, 2, 3, 4, 5, 6, 7], 'the results');
  }),
  the('a run can have five hundred steps in one call', async (stage) => {
    await stage.start('one', { routine: 'many', count: 500 });
    expectEqual(await stage.result('one'), 124_750, 'the sum of their results');
  }),
  the('a checkpoint between two actions loses and repeats nothing', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 6, isPaced: true });
    expectEqual(await stage.result('one'), { sum: 15 }, 'the sum of their results');
    for (let at = 0; at < 6; at += 1) await stage.expectLines('one', `s${at}`, 1);
  }),
  the('the routine can catch the error of a step, with its kind, code and message', async (stage) => {
    const error = { kind: 'tool', code: 'odd', message: 'broken ü' };
    await stage.start('one', { routine: 'failing', failures: 1, error });
    expectEqual(await stage.result('one'), error, 'the error that the routine caught');
  }),
  the('an ordinary error of a step becomes an AgentError with its message', async (stage) => {
    await stage.start('one', { routine: 'failing', failures: 1, error: 'broken' });
    expectEqual(
      await stage.result('one'),
      { kind: 'agent', code: null, message: 'broken' },
      'the error that the routine caught',
    );
  }),
  the('an error that the routine does not catch fails the run', async (stage) => {
    const error = { kind: 'auth', code: 'key', message: 'refused' };
    await stage.start('one', { routine: 'failing', failures: 1, error, rethrow: true });
    expectEqual(await stage.failure('one'), error, 'the failure');
  }),
  the('a step has one key in its run, and another in every other run', async (stage) => {
    await stage.start('one', { routine: 'keys' });
    await stage.start('two', { routine: 'keys' });
    const [a1, a2, b] = (await stage.result('one')) as string[];
    const [other] = (await stage.result('two')) as string[];
    expectEqual(a2, a1, 'the key of the same name');
    const keys = [a1, b, other].map(String);
    expect(
      new Set(keys).size === 3 && keys.every((key) => key.length > 8),
      `three different keys, found ${keys.join(', ')}`,
    );
  }),
  group('step', 'afterlife')('a step that starts after the run has ended is rejected', async (stage) => {
    await stage.start('one', { routine: 'afterlife' });
    expectEqual(await stage.result('one'), 'over', 'the result');
    await stage.leave('one', 'over');
    await stage.reached('one', 'refused');
    expectEqual(await stage.lines('one', 'refused'), ['invalid'], "the kind of the step's error");
    await stage.expectLines('one', 'ran', 0);
  }),
  group('step', 'afterlife')('a step that starts after its call has ended is rejected', async (stage) => {
    await stage.start('one', { routine: 'leftBehind' });
    await stage.reached('one', 'recorded');
    await stage.place.advance(20);
    await stage.leave('one', 'over');
    await stage.reached('one', 'refused');
    await stage.expectLines('one', 'ran', 0);
    await stage.signal('one', 'go');
    expectEqual(await stage.result('one'), 'over', 'the result');
  }),
  afterReopening('a run continues after the actions that its own data has [P13]', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 12, waitAfter: 5 });
    await stage.reached('one', 'recorded');
    await stage.reopen();
    await stage.signal('one', 'go');
    expectEqual(await stage.result('one'), { sum: 66 }, 'the sum');
    for (const mark of ['s0', 's5', 's6', 's11']) await stage.expectLines('one', mark, 1);
  }),
  afterReopening('an interrupted step runs again with the same key', async (stage) => {
    await stage.start('one', { routine: 'hanging', isDeaf: true });
    await stage.reached('one', 'in');
    await stage.reopen();
    await stage.reached('one', 'in', 2);
    await stage.leave('one', 'release');
    expectEqual(await stage.result('one'), null, 'the result');
    const [first, second] = await stage.lines('one', 'in');
    expectEqual(second, first, 'the key');
  }),
  afterReopening('results and failures are kept', async (stage) => {
    await stage.start('one', { routine: 'echo', value: 1 });
    await stage.start('two', { routine: 'throwing', error: { kind: 'limit', message: 'enough' } });
    await stage.result('one');
    await stage.failure('two');
    await stage.reopen();
    expectEqual(await stage.result('one'), { value: 1 }, 'the result');
    expectEqual(await stage.failure('two'), { kind: 'limit', message: 'enough' }, 'the failure');
    expectEqual(await stage.start('one', { routine: 'echo' }), false, 'whether the run was started again');
  }),
];

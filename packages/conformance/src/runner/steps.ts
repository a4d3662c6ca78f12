import type { Json } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import { maxResultBytes } from '@cobbler/agent/values';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const the = group('step');
const afterReopening = group('step', 'reopen');

interface StepError {
  readonly kind: string;
  readonly code: string;
  readonly message: string;
}

export const stepCases: readonly RunnerCase[] = [
  the('a reused name is rejected for every kind of step, and the run continues', async (stage) => {
    await stage.start('one', { routine: 'names' });
    const { found, value } = (await stage.result('one')) as unknown as { found: StepError[]; value: string };
    const codes = found.map(({ kind, code }) => `${kind} ${code}`);
    expectEqual(codes, Array(3).fill('invalid step_name'), 'the errors');
    expectEqual(value, 'continued', 'the value of the next step');
  }),
  the('a name that is empty or too long is rejected', async (stage) => {
    for (const [run, second] of Object.entries({ empty: '', long: 'x'.repeat(257) })) {
      await stage.start(run, { routine: 'names', second });
      const { found } = (await stage.result(run)) as unknown as { found: StepError[] };
      expectEqual(
        found.map(({ code }) => code),
        Array(3).fill('step_name'),
        `the errors of the ${run} name`,
      );
    }
  }),
  the('a result that JSON cannot represent is rejected', async (stage) => {
    await stage.start('one', { routine: 'odd' });
    const found = (await stage.result('one')) as unknown as Record<string, StepError | null>;
    for (const [name, error] of Object.entries(found))
      expectEqual(`${error?.kind} ${error?.code}`, 'invalid not_json', `the error for ${name}`);
    expectEqual(Object.keys(found).length, 11, 'the number of values tried');
  }),
  the('a result of the maximum size is accepted', async (stage) => {
    await stage.start('one', { routine: 'large', text: 'x', count: maxResultBytes - 2 });
    expectEqual(await stage.result('one'), { length: maxResultBytes - 2, error: null }, 'the result');
  }),
  the('a result one byte over the maximum is rejected', async (stage) => {
    await stage.start('one', { routine: 'large', text: 'x', count: maxResultBytes - 1 });
    const { error } = (await stage.result('one')) as unknown as { error: StepError };
    expectEqual(`${error.kind} ${error.code}`, 'invalid too_large', 'the error');
  }),
  the('result sizes are measured in UTF-8 bytes', async (stage) => {
    const count = Math.floor((maxResultBytes - 2) / 3);
    await stage.start('passes', { routine: 'large', text: '€', count });
    await stage.start('fails', { routine: 'large', text: '€', count: count + 1 });
    expectEqual(await stage.result('passes'), { length: count, error: null }, 'the result of maximum size');
    const { error } = (await stage.result('fails')) as unknown as { error: StepError };
    expectEqual(error.code, 'too_large', 'the error code of the larger result');
  }),
  the('later changes do not affect a step result', async (stage) => {
    await stage.start('one', { routine: 'changing' });
    expectEqual(await stage.result('one'), { list: ['a', 'c'], later: 2 }, 'the result');
  }),
  the('parallel steps each return their own result', async (stage) => {
    await stage.start('one', { routine: 'parallel', count: 8 });
    expectEqual(await stage.result('one'), [0, 1, 2, 3, 4, 5, 6, 7], 'the results');
  }),
  the('a run can have five hundred steps', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 500 });
    const { sum } = (await stage.result('one')) as { sum: Json };
    expectEqual(sum, 124_750, 'the sum of their results');
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
  the('steps with different names or in different runs have different keys', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 2 });
    await stage.start('two', { routine: 'steps', count: 2 });
    await stage.result('one');
    await stage.result('two');
    const keys: string[] = [];
    for (const run of ['one', 'two'])
      for (const mark of ['s0', 's1']) keys.push(...(await stage.lines(run, mark)));
    expect(
      new Set(keys).size === 4 && keys.every((key) => key.length > 8),
      `four different keys, found ${keys.join(', ')}`,
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
  afterReopening('a step with a result does not run again and reports a replay [P13]', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 4, waitAfter: 1 });
    await stage.reached('one', 'recorded');
    await stage.reopen();
    await stage.signal('one', 'go');
    expectEqual(await stage.result('one'), { sum: 6, replayed: [true, true, false, false] }, 'the result');
    for (const mark of ['s0', 's1', 's2', 's3']) await stage.expectLines('one', mark, 1);
  }),
  afterReopening('an error is read back from the journal unchanged', async (stage) => {
    const error = { kind: 'rate_limit', code: 'slow', message: 'later' };
    await stage.start('one', { routine: 'failing', failures: 1, error, wait: true });
    await stage.reached('one', 'recorded');
    await stage.reopen();
    await stage.signal('one', 'go');
    expectEqual(await stage.result('one'), error, 'the error that the routine caught');
    await stage.expectLines('one', 'attempt', 1);
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
    expectEqual(await stage.result('one'), { value: 1, replayed: false }, 'the result');
    expectEqual(await stage.failure('two'), { kind: 'limit', message: 'enough' }, 'the failure');
    expectEqual(await stage.start('one', { routine: 'echo' }), false, 'whether the run was started again');
  }),
  afterReopening('a run of many steps continues where it stopped', async (stage) => {
    await stage.start('one', { routine: 'steps', count: 120, waitAfter: 59 });
    await stage.reached('one', 'recorded');
    await stage.reopen();
    await stage.signal('one', 'go');
    const { sum, replayed } = (await stage.result('one')) as { sum: Json; replayed: boolean[] };
    expectEqual(
      [sum, replayed.filter(Boolean).length],
      [7140, 60],
      'the sum and the number of replayed steps',
    );
  }),
];

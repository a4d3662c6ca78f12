import type { Json, JsonObject } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import { maxResultBytes } from '@cobbler/agent/values';
import type { RunnerCase } from './case.ts';
import { group } from './case.ts';

const the = group('start');

const badIds = ['', ' ', 'a b', 'a/b', '../up', 'a\0', 'ümlaut', "x'; --", 'x'.repeat(129)];

export const startCases: readonly RunnerCase[] = [
  the('the return value of the workflow is the result of its run', async (setup) => {
    expectEqual(
      await setup.start('one', { workflow: 'echo', value: 7 }),
      true,
      'whether the run was started',
    );
    expectEqual(await setup.result('one'), { value: 7 }, 'the result');
    const status = await setup.runner.status(setup.id('one'));
    expectEqual(status, { state: 'done', output: { value: 7 } }, 'the status');
  }),
  the('the workflow receives the input unchanged', async (setup) => {
    const value: Json = { text: 'ü€🙂"\\\n', list: [1.5, -3, null, true, []], nested: { '': { a: 0 } } };
    await setup.start('one', { workflow: 'echo', value });
    expectEqual(await setup.result('one'), { value }, 'the result');
  }),
  the('a running run is not started again', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    await setup.untilReached('one', 'before');
    const again = await setup.start('one', { workflow: 'echo', value: 'another input' });
    expectEqual(again, false, 'whether the run was started again');
    await setup.signal('one', 'go', 1);
    expectEqual(await setup.result('one'), [{ value: 1 }], 'the result');
    await setup.expectLines('one', 'before', 1);
  }),
  the('a run that has ended is not started again', async (setup) => {
    await setup.start('one', { workflow: 'echo', value: 1 });
    await setup.result('one');
    expectEqual(
      await setup.start('one', { workflow: 'echo', value: 2 }),
      false,
      'whether the run was started again',
    );
    expectEqual(await setup.result('one'), { value: 1 }, 'the result');
    await setup.expectLines('one', 'echo', 1);
  }),
  the('of two simultaneous starts of one run only one counts', async (setup) => {
    const input = { workflow: 'echo', value: 1 };
    const both = await Promise.all([setup.start('one', input), setup.start('one', input)]);
    expectEqual(both.toSorted(), [false, true], 'whether the runs were started');
    await setup.result('one');
    await setup.expectLines('one', 'echo', 1);
  }),
  the('an invalid run id is rejected', async (setup) => {
    for (const runId of badIds) {
      const what = `a start of ${JSON.stringify(runId.slice(0, 40))}`;
      const work = () => setup.runner.start({ workflow: 'echo' }, { runId });
      const { kind, code } = await setup.refusal(work, what);
      expectEqual({ kind, code }, { kind: 'invalid', code: 'run_id' }, what);
    }
  }),
  the('an input that JSON cannot represent is rejected, and nothing is started', async (setup) => {
    const odd = { workflow: 'echo', value: new Set() } as unknown as JsonObject;
    const { kind, code } = await setup.refusal(() => setup.start('one', odd), 'the start');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'not_json' }, 'the error');
    expectEqual(await setup.state('one'), 'unknown', 'the state');
  }),
  the('an input of the maximum size is accepted, and one with one byte more is rejected', async (setup) => {
    const frame = JSON.stringify({ workflow: 'steps', count: 1, text: '' }).length;
    const input = (more: number) => ({
      workflow: 'steps',
      count: 1,
      text: 'x'.repeat(maxResultBytes - frame + more),
    });
    const { code } = await setup.refusal(() => setup.start('more', input(1)), 'the start');
    expectEqual(code, 'too_large', 'the error');
    await setup.start('most', input(0));
    expectEqual(await setup.result('most'), { sum: 0 }, 'the result');
  }),
  the('an unknown run has no state and accepts no call', async (setup) => {
    expectEqual(await setup.state('none'), 'unknown', 'the state');
    expectEqual(await setup.cancel('none'), false, 'whether the run was cancelled');
    expectEqual(await setup.signal('none', 'go'), false, 'whether the signal was accepted');
    const { kind, code } = await setup.failure('none');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'no_run' }, 'the error of the result');
  }),
  the('several callers can await one result', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    const waiting = Promise.all([setup.result('one'), setup.result('one'), setup.result('one')]);
    await setup.signal('one', 'go', 'x');
    const expected = [{ value: 'x' }];
    expectEqual(await waiting, [expected, expected, expected], 'the results');
  }),
  the('aborting a wait for a result does not end the run', async (setup) => {
    await setup.start('one', { workflow: 'waiter' });
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = setup.refusal(() => setup.runner.result(setup.id('one'), { signal }), 'the result');
    await setup.untilReached('one', 'before');
    controller.abort();
    expectEqual((await waiting).kind, 'aborted', 'the error of the wait');
    await setup.signal('one', 'go', 'x');
    expectEqual(await setup.result('one'), [{ value: 'x' }], 'the result');
  }),
  the('a workflow that throws an ordinary error fails with its message', async (setup) => {
    await setup.start('one', { workflow: 'throwing', error: 'broken' });
    const { kind, message } = await setup.failure('one');
    expectEqual({ kind, message }, { kind: 'agent', message: 'broken' }, 'the failure');
    const status = await setup.runner.status(setup.id('one'));
    expect(status.state === 'failed' && status.error.message === 'broken', `failed, found ${status.state}`);
  }),
  the('a workflow that throws an AgentError fails with its kind, code and message', async (setup) => {
    const error = { kind: 'limit', code: 'usd', message: 'too dear' };
    await setup.start('one', { workflow: 'throwing', error });
    expectEqual(await setup.failure('one'), error, 'the failure');
  }),
  the('an output that cannot be stored fails the run', async (setup) => {
    await setup.start('odd', { workflow: 'oddOutput' });
    await setup.start('more', { workflow: 'oddOutput', size: maxResultBytes - 1 });
    await setup.start('most', { workflow: 'oddOutput', size: maxResultBytes - 2 });
    expectEqual((await setup.failure('odd')).code, 'not_json', 'the error for a map');
    expectEqual((await setup.failure('more')).code, 'too_large', 'the error for one byte too many');
    expectEqual(
      String(await setup.result('most')).length,
      maxResultBytes - 2,
      'the length of the largest output',
    );
  }),
];

import type { Json, JsonObject } from '@cobbler/agent';
import { expect, expectEqual } from '@cobbler/agent/testing';
import { maxResultBytes } from '@cobbler/agent/values';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const the = group('start');

const badIds = ['', ' ', 'a b', 'a/b', '../up', 'a\0', 'ümlaut', "x'; --", 'x'.repeat(129)];

export const startCases: readonly RunnerCase[] = [
  the('the return value of the routine is the result of its run', async (stage) => {
    expectEqual(await stage.start('one', { routine: 'echo', value: 7 }), true, 'whether the run was started');
    expectEqual(await stage.result('one'), { value: 7 }, 'the result');
    const status = await stage.runner.status(stage.id('one'));
    expectEqual(status, { state: 'done', output: { value: 7 } }, 'the status');
  }),
  the('the routine receives the input unchanged', async (stage) => {
    const value: Json = { text: 'ü€🙂"\\\n', list: [1.5, -3, null, true, []], nested: { '': { a: 0 } } };
    await stage.start('one', { routine: 'echo', value });
    expectEqual(await stage.result('one'), { value }, 'the result');
  }),
  the('a running run is not started again', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    await stage.reached('one', 'before');
    const again = await stage.start('one', { routine: 'echo', value: 'another input' });
    expectEqual(again, false, 'whether the run was started again');
    await stage.signal('one', 'go', 1);
    expectEqual(await stage.result('one'), [{ value: 1 }], 'the result');
    await stage.expectLines('one', 'before', 1);
  }),
  the('a run that has ended is not started again', async (stage) => {
    await stage.start('one', { routine: 'echo', value: 1 });
    await stage.result('one');
    expectEqual(
      await stage.start('one', { routine: 'echo', value: 2 }),
      false,
      'whether the run was started again',
    );
    expectEqual(await stage.result('one'), { value: 1 }, 'the result');
    await stage.expectLines('one', 'echo', 1);
  }),
  the('of two simultaneous starts of one run only one counts', async (stage) => {
    const input = { routine: 'echo', value: 1 };
    const both = await Promise.all([stage.start('one', input), stage.start('one', input)]);
    expectEqual(both.toSorted(), [false, true], 'whether the runs were started');
    await stage.result('one');
    await stage.expectLines('one', 'echo', 1);
  }),
  the('an invalid run id is rejected', async (stage) => {
    for (const runId of badIds) {
      const what = `a start of ${JSON.stringify(runId.slice(0, 40))}`;
      const work = () => stage.runner.start({ routine: 'echo' }, { runId });
      const { kind, code } = await stage.refusal(work, what);
      expectEqual({ kind, code }, { kind: 'invalid', code: 'run_id' }, what);
    }
  }),
  the('an input that JSON cannot represent is rejected, and nothing is started', async (stage) => {
    const odd = { routine: 'echo', value: new Set() } as unknown as JsonObject;
    const { kind, code } = await stage.refusal(() => stage.start('one', odd), 'the start');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'not_json' }, 'the error');
    expectEqual(await stage.state('one'), 'unknown', 'the state');
  }),
  the('an input of the maximum size is accepted, and one with one byte more is rejected', async (stage) => {
    const frame = JSON.stringify({ routine: 'steps', count: 1, text: '' }).length;
    const input = (more: number) => ({
      routine: 'steps',
      count: 1,
      text: 'x'.repeat(maxResultBytes - frame + more),
    });
    const { code } = await stage.refusal(() => stage.start('more', input(1)), 'the start');
    expectEqual(code, 'too_large', 'the error');
    await stage.start('most', input(0));
    expectEqual(await stage.result('most'), { sum: 0 }, 'the result');
  }),
  the('an unknown run has no state and accepts no call', async (stage) => {
    expectEqual(await stage.state('none'), 'unknown', 'the state');
    expectEqual(await stage.cancel('none'), false, 'whether the run was cancelled');
    expectEqual(await stage.signal('none', 'go'), false, 'whether the signal was accepted');
    const { kind, code } = await stage.failure('none');
    expectEqual({ kind, code }, { kind: 'invalid', code: 'no_run' }, 'the error of the result');
  }),
  the('several callers can await one result', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    const waiting = Promise.all([stage.result('one'), stage.result('one'), stage.result('one')]);
    await stage.signal('one', 'go', 'x');
    const expected = [{ value: 'x' }];
    expectEqual(await waiting, [expected, expected, expected], 'the results');
  }),
  the('aborting a wait for a result does not end the run', async (stage) => {
    await stage.start('one', { routine: 'waiter' });
    const controller = new AbortController();
    const { signal } = controller;
    const waiting = stage.refusal(() => stage.runner.result(stage.id('one'), { signal }), 'the result');
    await stage.reached('one', 'before');
    controller.abort();
    expectEqual((await waiting).kind, 'aborted', 'the error of the wait');
    await stage.signal('one', 'go', 'x');
    expectEqual(await stage.result('one'), [{ value: 'x' }], 'the result');
  }),
  the('a routine that throws an ordinary error fails with its message', async (stage) => {
    await stage.start('one', { routine: 'throwing', error: 'broken' });
    const { kind, message } = await stage.failure('one');
    expectEqual({ kind, message }, { kind: 'agent', message: 'broken' }, 'the failure');
    const status = await stage.runner.status(stage.id('one'));
    expect(status.state === 'failed' && status.error.message === 'broken', `failed, found ${status.state}`);
  }),
  the('a routine that throws an AgentError fails with its kind, code and message', async (stage) => {
    const error = { kind: 'limit', code: 'usd', message: 'too dear' };
    await stage.start('one', { routine: 'throwing', error });
    expectEqual(await stage.failure('one'), error, 'the failure');
  }),
  the('an output that cannot be stored fails the run', async (stage) => {
    await stage.start('odd', { routine: 'oddOutput' });
    await stage.start('more', { routine: 'oddOutput', size: maxResultBytes - 1 });
    await stage.start('most', { routine: 'oddOutput', size: maxResultBytes - 2 });
    expectEqual((await stage.failure('odd')).code, 'not_json', 'the error for a map');
    expectEqual((await stage.failure('more')).code, 'too_large', 'the error for one byte too many');
    expectEqual(
      String(await stage.result('most')).length,
      maxResultBytes - 2,
      'the length of the largest output',
    );
  }),
];

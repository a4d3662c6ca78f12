import { expect, expectEqual } from '@cobbler/agent/testing';
import type { RunnerCase } from './case.ts';
import { group } from './case.ts';

const the = group('attempt');
const retry = { retries: 2, firstMs: 10 };

export const attemptCases: readonly RunnerCase[] = [
  the('by default a failed step is not retried', async (setup) => {
    await setup.start('one', { workflow: 'failing', failures: 1, error: 'broken' });
    await setup.result('one');
    await setup.expectLines('one', 'attempt', 1);
  }),
  the(
    'a step is retried until it succeeds, with one key and attempts counted from 1 [S3.2]',
    async (setup) => {
      await setup.start('one', { workflow: 'failing', failures: 2, error: 'broken', retry });
      expectEqual(await setup.result('one'), null, 'the error that the workflow caught');
      const lines = (await setup.lines('one', 'attempt')).map((line) => line.split(' '));
      expectEqual(
        lines.map(([attempt]) => attempt),
        ['1', '2', '3'],
        'the attempts',
      );
      expectEqual(new Set(lines.map(([, key]) => key)).size, 1, 'the number of different keys');
    },
  ),
  the('after its last attempt a step fails with the last error', async (setup) => {
    await setup.start('one', { workflow: 'failing', failures: 9, error: 'broken', retry });
    expectEqual(
      await setup.result('one'),
      { kind: 'agent', code: null, message: 'broken' },
      'the error that the workflow caught',
    );
    await setup.expectLines('one', 'attempt', 3);
  }),
  the('a permanent error is not retried', async (setup) => {
    const error = { kind: 'auth', message: 'refused' };
    await setup.start('one', { workflow: 'failing', failures: 9, error, retry });
    await setup.result('one');
    await setup.expectLines('one', 'attempt', 1);
  }),
  the('a workflow whose session was claimed by another process is called again', async (setup) => {
    const error = { kind: 'invalid', code: 'fenced', message: 'taken over' };
    await setup.start('one', { workflow: 'failing', failures: 2, error, rethrow: true });
    expectEqual(await setup.result('one'), null, 'the result');
    await setup.expectLines('one', 'attempt', 3);
  }),
  the('an AgentError marked as retryable is retried', async (setup) => {
    const error = { kind: 'network', message: 'cut', retryable: true };
    await setup.start('one', { workflow: 'failing', failures: 1, error, retry });
    expectEqual(await setup.result('one'), null, 'the error that the workflow caught');
    await setup.expectLines('one', 'attempt', 2);
  }),
  the('the delay between attempts doubles', async (setup) => {
    const began = setup.place.now();
    const slow = { retries: 3, firstMs: 30 };
    await setup.start('one', { workflow: 'failing', failures: 3, error: 'broken', retry: slow });
    expectEqual(await setup.result('one'), null, 'the error that the workflow caught');
    const took = setup.place.now() - began;
    expect(took >= 205, `at least 210 ms of delays, found ${took}`);
  }),
  the('a delay never exceeds its maximum', async (setup) => {
    const began = setup.place.now();
    const steep = { retries: 2, firstMs: 20_000, maxMs: 20 };
    await setup.start('one', { workflow: 'failing', failures: 2, error: 'broken', retry: steep });
    expectEqual(await setup.result('one'), null, 'the error that the workflow caught');
    const took = setup.place.now() - began;
    expect(took < 4000, `less than one uncapped delay, found ${took} ms`);
  }),
  the('a step that times out fails, and its function is stopped [S3.2]', async (setup) => {
    await setup.start('one', { workflow: 'hanging', timeoutMs: 60 });
    const error = (await setup.result('one')) as { kind: string };
    expectEqual(error.kind, 'timeout', 'the error of the step');
    await setup.untilReached('one', 'out');
    expectEqual(await setup.lines('one', 'out'), ['stopped'], 'whether the step was stopped');
  }),
  the('a function that ignores its timeout delays nothing, and its late result is dropped', async (setup) => {
    await setup.start('one', { workflow: 'hanging', timeoutMs: 60, isDeaf: true });
    const error = (await setup.result('one')) as { kind: string };
    expectEqual(error.kind, 'timeout', 'the error of the step');
    await setup.leave('one', 'release');
    await setup.place.advance(40);
    expectEqual(((await setup.result('one')) as { kind: string }).kind, 'timeout', 'the error of the step');
    await setup.expectLines('one', 'after', 1);
  }),
  the('a step that times out is retried if retries are set', async (setup) => {
    await setup.start('one', { workflow: 'hanging', timeoutMs: 40, retry: { retries: 1, firstMs: 5 } });
    await setup.result('one');
    await setup.expectLines('one', 'in', 2);
  }),
];

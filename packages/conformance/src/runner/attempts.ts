import { expect, expectEqual } from '@cobbler/agent/testing';
import { maxResultBytes } from '@cobbler/agent/values';
import type { RunnerCase } from './cases.ts';
import { group } from './cases.ts';

const the = group('attempt');
const retry = { retries: 2, firstMs: 10 };

export const attemptCases: readonly RunnerCase[] = [
  the('without being told to, a step is not tried again', async (stage) => {
    await stage.start('one', { routine: 'failing', failures: 1, error: 'broken' });
    await stage.result('one');
    await stage.expectLines('one', 'attempt', 1);
  }),
  the(
    'a step is tried again until it succeeds, with one key and attempts counted from 1 [S3.2]',
    async (stage) => {
      await stage.start('one', { routine: 'failing', failures: 2, error: 'broken', retry });
      expectEqual(await stage.result('one'), null, 'what was caught');
      const lines = (await stage.lines('one', 'attempt')).map((line) => line.split(' '));
      expectEqual(
        lines.map(([attempt]) => attempt),
        ['1', '2', '3'],
        'the attempts',
      );
      expectEqual(new Set(lines.map(([, key]) => key)).size, 1, 'how many keys there were');
    },
  ),
  the('after its last attempt a step fails with the last error', async (stage) => {
    await stage.start('one', { routine: 'failing', failures: 9, error: 'broken', retry });
    expectEqual(
      await stage.result('one'),
      { kind: 'agent', code: null, message: 'broken' },
      'what was caught',
    );
    await stage.expectLines('one', 'attempt', 3);
  }),
  the('an error that a repetition cannot mend is not tried again', async (stage) => {
    const error = { kind: 'auth', message: 'refused' };
    await stage.start('one', { routine: 'failing', failures: 9, error, retry });
    await stage.result('one');
    await stage.expectLines('one', 'attempt', 1);
  }),
  the('an AgentError that says so is tried again', async (stage) => {
    const error = { kind: 'network', message: 'cut', retryable: true };
    await stage.start('one', { routine: 'failing', failures: 1, error, retry });
    expectEqual(await stage.result('one'), null, 'what was caught');
    await stage.expectLines('one', 'attempt', 2);
  }),
  the('the pause between attempts doubles', async (stage) => {
    const began = stage.place.now();
    const slow = { retries: 3, firstMs: 30 };
    await stage.start('one', { routine: 'failing', failures: 3, error: 'broken', retry: slow });
    expectEqual(await stage.result('one'), null, 'what was caught');
    const took = stage.place.now() - began;
    expect(took >= 205, `at least 210 ms in pauses, found ${took}`);
  }),
  the('a pause is no longer than its limit', async (stage) => {
    const began = stage.place.now();
    const steep = { retries: 2, firstMs: 20_000, maxMs: 20 };
    await stage.start('one', { routine: 'failing', failures: 2, error: 'broken', retry: steep });
    expectEqual(await stage.result('one'), null, 'what was caught');
    const took = stage.place.now() - began;
    expect(took < 4000, `less than one uncapped pause, found ${took} ms`);
  }),
  the('a step that takes too long fails, and its function is told to stop [S3.2]', async (stage) => {
    await stage.start('one', { routine: 'hanging', timeoutMs: 60 });
    const error = (await stage.result('one')) as { kind: string };
    expectEqual(error.kind, 'timeout', 'how it fails');
    await stage.reached('one', 'out');
    expectEqual(await stage.lines('one', 'out'), ['stopped'], 'whether it was told');
  }),
  the('a function that does not stop holds up nothing, and what it gives later is dropped', async (stage) => {
    await stage.start('one', { routine: 'hanging', timeoutMs: 60, isDeaf: true });
    const error = (await stage.result('one')) as { kind: string };
    expectEqual(error.kind, 'timeout', 'how it fails');
    await stage.leave('one', 'release');
    await stage.place.advance(40);
    expectEqual(((await stage.result('one')) as { kind: string }).kind, 'timeout', 'how it failed');
    await stage.expectLines('one', 'after', 1);
  }),
  the('a step that takes too long is tried again when it may be', async (stage) => {
    await stage.start('one', { routine: 'hanging', timeoutMs: 40, retry: { retries: 1, firstMs: 5 } });
    await stage.result('one');
    await stage.expectLines('one', 'in', 2);
  }),
  the('a result that is too large is not made again', async (stage) => {
    await stage.start('one', { routine: 'large', text: 'x', count: maxResultBytes + 5 });
    const { error } = (await stage.result('one')) as { error: { code: string } };
    expectEqual(error.code, 'too_large', 'the refusal');
  }),
];

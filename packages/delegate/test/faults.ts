import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { systemRuntime } from '@cobbler/agent';
import type { BackendEvent, BackendProcess, BackendResult } from '@cobbler/delegate';
import { describe, expect, it } from 'vitest';
import type { FakePrograms } from './fake-programs.ts';
import { backendOf, placePrograms, running } from './fake-programs.ts';

type Name = 'claude-code' | 'codex';

/** True if the measured times are printed, with the default grace period. */
const takesFigures = process.env['COBBLER_FIGURES'] === '1';

interface Played {
  readonly process: BackendProcess;
  readonly result: BackendResult;
  readonly events: readonly BackendEvent[];
  /** Milliseconds from the stop, the time limit or the end event until no process was left. */
  readonly goneMs: number;
  /** Milliseconds of timers within `goneMs`. The rest depends on the speed of this machine. */
  readonly waitedMs: number;
  readonly left: readonly string[];
}

setFlagsFromString('--expose-gc');
const collectGarbage: () => void = runInNewContext('gc');

/** Returns the number of bytes that are in use after garbage collection, part of which needs the event loop. */
async function memoryInUse(): Promise<number> {
  let least = Number.POSITIVE_INFINITY;
  for (let round = 0; round < 20; round += 1) {
    collectGarbage();
    await new Promise(setImmediate);
    const { heapUsed, external } = process.memoryUsage();
    least = Math.min(least, heapUsed + external);
  }
  return least;
}

interface PlayOptions {
  readonly timeoutMs?: number;
  readonly retries?: number;
  /** Stops the job at the first event of this type. */
  readonly stopAt?: BackendEvent['type'];
}

export async function play(name: Name, prompt: string, options: PlayOptions = {}): Promise<Played> {
  const programs: FakePrograms & { dispose(): void } = placePrograms();
  const { graceMs = 300, ...rest } = programs.options;
  const grace = takesFigures ? {} : { graceMs };
  let waited = 0;
  const timer = (ms: number, fire: () => void) =>
    systemRuntime.timer(ms, () => {
      waited += ms;
      fire();
    });
  const runtime = { ...systemRuntime, timer };
  const backend = backendOf(name, { ...rest, ...grace, runtime, retries: 0, timeoutMs: 100_000, ...options });
  const events: BackendEvent[] = [];
  let toldToStop: number | undefined;
  let ended: number | undefined;
  let waitedBefore = options.timeoutMs ?? 0;
  const began = performance.now();
  const process = backend.start(
    { prompt, workingDir: programs.workspace },
    {
      onEvent: (event) => {
        events.push(event);
        if (event.type === 'end') {
          ended = performance.now();
          waitedBefore = waited;
        }
        if (event.type !== options.stopAt || toldToStop !== undefined) return;
        toldToStop = performance.now();
        waitedBefore = waited;
        process.stop();
      },
    },
  );
  const result = await process.result;
  const limit = options.timeoutMs === undefined ? undefined : began + options.timeoutMs;
  const lastWord = toldToStop ?? limit ?? ended ?? performance.now();
  const goneMs = performance.now() - lastWord;
  const left = running(programs.home);
  programs.dispose();
  return { process, result, events, goneMs, waitedMs: waited - waitedBefore, left };
}

const figures: string[] = [];

async function expectGone(name: string, mode: string, played: Played): Promise<void> {
  figures.push(`${mode} ${name} ${played.result.status} ${Math.round(played.goneMs)} ms`);
  expect(played.left).toEqual([]);
  // A program may take 5 s to exit after its end event, and on a busy machine any program can take that long.
  const hasEnded = played.events.some(({ type }) => type === 'end');
  expect(played.waitedMs).toBeLessThan(hasEnded ? 10_000 : 5000);
}

/** Defines the tests of what can go wrong with the process of a job. */
export function testFaults(name: Name): void {
  describe(`a job of ${name} [P2, P3]`, () => {
    it.concurrent('times out if the program hangs without output', async () => {
      const played = await play(name, 'fault hang', { timeoutMs: 700 });
      expect(played.result).toMatchObject({ status: 'timeout', error: { kind: 'timeout' } });
      await expectGone(name, 'hang', played);
    });

    it.concurrent('kills a program that ignores SIGTERM [S2.17]', async () => {
      const played = await play(name, 'fault ignore-sigterm', { stopAt: 'session' });
      expect(played.result).toMatchObject({ status: 'cancelled', error: { kind: 'aborted' } });
      await expectGone(name, 'ignore-sigterm', played);
    });

    it.concurrent.each(['grandchild', 'grandchild-setsid'])(
      'kills a %s that ignores SIGTERM',
      async (mode) => {
        const played = await play(name, `fault ${mode}`, { stopAt: 'session' });
        expect(played.result.status).toBe('cancelled');
        await expectGone(name, mode, played);
      },
    );

    it.concurrent('succeeds and kills a daemon that left its group, session and parent', async () => {
      const played = await play(name, 'fault daemon');
      expect(played.result).toMatchObject({ status: 'completed', output: 'Done.' });
      await expectGone(name, 'daemon', played);
    });

    it.concurrent('succeeds and kills a child that keeps the output pipe open', async () => {
      const played = await play(name, 'fault holds-the-pipe');
      expect(played.result).toMatchObject({ status: 'completed', output: 'Done.' });
      await expectGone(name, 'holds-the-pipe', played);
    });

    it.concurrent('fails with the standard error if the program exits with 3 [S2.19]', async () => {
      const played = await play(name, 'fault exit-3');
      expect(played.result).toMatchObject({
        status: 'failed',
        exitCode: 3,
        error: { kind: 'agent', code: 'no_end' },
      });
      expect(played.result.output).toContain('It broke in the middle.');
      await expectGone(name, 'exit-3', played);
    });

    it.concurrent('fails if the program exits with 4, even after a successful result', async () => {
      const played = await play(name, 'fault exit-after-end');
      expect(played.result).toMatchObject({ status: 'failed', exitCode: 4, error: { code: 'bad_exit' } });
      await expectGone(name, 'exit-after-end', played);
    });

    it.concurrent('fails if a signal ends the program [S2.18]', async () => {
      const played = await play(name, 'fault signal-self');
      expect(played.result).toMatchObject({ status: 'failed', exitCode: null, error: { code: 'no_end' } });
      expect(played.result.output).toContain('SIGKILL');
      await expectGone(name, 'signal-self', played);
    });

    it.concurrent('ignores output after the result', async () => {
      const played = await play(name, 'fault talks-on');
      expect(played.result).toMatchObject({ status: 'completed', output: 'The first.' });
      expect(played.events.at(-1)?.type).toBe('end');
      await expectGone(name, 'talks-on', played);
    });

    it.concurrent('stops the program and fails if it does not exit after its result', {
      timeout: 120_000,
    }, async () => {
      const played = await play(name, 'fault stays-after-end');
      expect(played.result).toMatchObject({ status: 'failed', error: { code: 'bad_exit' } });
      await expectGone(name, 'stays-after-end', played);
    });

    it.concurrent('fails if the program exits with 0 without output', async () => {
      const played = await play(name, 'fault empty');
      expect(played.result).toMatchObject({ status: 'failed', exitCode: 0, error: { code: 'no_end' } });
      await expectGone(name, 'empty', played);
    });

    it.concurrent.each(['half-json', 'no-end'])(
      'fails and returns the raw output if the output ends with %s [S2.20]',
      async (mode) => {
        const played = await play(name, `fault ${mode}`);
        expect(played.result).toMatchObject({ status: 'failed', exitCode: 0, error: { code: 'no_end' } });
        expect(played.result.output).toContain(mode === 'no-end' ? 'All is well.' : '"subtype":"succ');
        await expectGone(name, mode, played);
      },
    );

    it.concurrent.each([
      ['noise', 'Heard through the noise.'],
      ['ansi', 'In colour.'],
      ['split-utf8', 'Grüße, 世界 🙂'],
    ])('parses output with %s', async (mode, said) => {
      const played = await play(name, `fault ${mode}`);
      expect(played.result).toMatchObject({ status: 'completed', output: said });
      await expectGone(name, mode, played);
    });

    it.concurrent('fails and reports the limit if a line has 17 MiB [P11]', {
      timeout: 120_000,
    }, async () => {
      const played = await play(name, 'fault long-line');
      expect(played.result).toMatchObject({
        status: 'failed',
        attempts: 1,
        error: { kind: 'agent', code: 'message_too_long', message: expect.stringContaining('16 MiB') },
      });
      await expectGone(name, 'long-line', played);
    });

    it.concurrent('fails and reports the limit if it prints more than 256 MiB [P29]', {
      timeout: 120_000,
    }, async () => {
      const played = await play(name, 'fault too-much');
      expect(played.result).toMatchObject({
        status: 'failed',
        attempts: 1,
        error: { kind: 'agent', code: 'message_too_long', message: expect.stringContaining('256 MiB') },
      });
      await expectGone(name, 'too-much', played);
    });

    it.concurrent('succeeds with output of 3 MB and truncates it to 1 MiB, head and tail [S2.16]', async () => {
      const played = await play(name, 'fault long-text');
      expect(played.result.status).toBe('completed');
      expect(Buffer.byteLength(played.result.output)).toBeLessThanOrEqual(1_048_576 + 100);
      expect(played.result.output).toMatch(/^é+\n\[… \d+ bytes omitted …\]\né+$/);
      await expectGone(name, 'long-text', played);
    });

    it.concurrent('ends the standard input after the prompt [P20]', async () => {
      const played = await play(name, 'fault waits-on-stdin');
      expect(played.result).toMatchObject({ status: 'completed', output: 'Heard 0 more.' });
      await expectGone(name, 'waits-on-stdin', played);
    });

    it.concurrent('passes a prompt of 5 MB completely [P20]', async () => {
      const prompt = `length ${'ß'.repeat(2_500_000)}`;
      const played = await play(name, prompt);
      expect(played.result.output).toBe(String(prompt.length));
      await expectGone(name, 'huge-prompt', played);
    });

    it.concurrent('passes a hostile prompt unchanged, without a shell or an option parser [P20]', async () => {
      const hostile = `echo --dangerously-skip-permissions; $(touch pwned) \`id\` "quotes' \\ \u0007 -- -x && rm -rf .`;
      const played = await play(name, hostile);
      expect(played.result.output).toBe(hostile);
      await expectGone(name, 'hostile-prompt', played);
    });

    it.concurrent('retries a transient failure once and counts its usage separately [P5]', async () => {
      const played = await play(name, 'fault dies-once', { retries: 1 });
      expect(played.result).toMatchObject({ status: 'completed', output: 'Well again.', attempts: 2 });
      expect(played.result.wasted.inputTokens).toBe(name === 'claude-code' ? 7 : 0);
      expect(played.events.some(({ type }) => type === 'withdrawn')).toBe(true);
      await expectGone(name, 'dies-once', played);
    });

    // Not concurrent, so that only this job uses memory.
    it('reads 100 MB before the response without keeping them in memory [S2.16]', {
      timeout: 120_000,
    }, async () => {
      const before = await memoryInUse();
      const played = await play(name, 'fault hundred-mb');
      const kept = (await memoryInUse()) - before;
      // Until here, everything that the job refers to stays in memory.
      played.process.stop();
      expect(played.result).toMatchObject({ status: 'completed', output: 'After all that.' });
      expect(kept).toBeLessThan(10_000_000);
      await expectGone(name, 'hundred-mb', played);
    });

    it('prints the measured times if COBBLER_FIGURES is 1', () => {
      if (takesFigures) process.stdout.write(`${figures.splice(0).sort().join('\n')}\n`);
    });
  });
}

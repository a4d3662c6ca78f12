import type { Limits } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';
import { calls, RunFixture, resultTexts, scriptedModel, textResponse } from '@cobbler/agent/testing';
import { describe, expect, it } from 'vitest';
import { maxWaitMs, waitTool } from '../src/wait-until.ts';

const hour = 3_600_000;

/** Lets a scripted model call wait_until once. The clock starts at 2026-01-01T00:00:00Z and advances when needed. */
function scene(args: Record<string, unknown>, limits: Limits = {}, tool = waitTool()) {
  const stage = new RunFixture(() => memoryStore());
  const agent = scriptedModel([calls([{ name: 'wait_until', arguments: args }]), textResponse('Done.')]);
  const run = stage.run({ agent, tools: [tool], limits });
  const resultOf = async () => {
    const { messages } = await stage.until(run);
    return resultTexts(messages).join();
  };
  return { stage, run, resultOf };
}

/** Returns the result of a call. */
async function resultOf(args: Record<string, unknown>, limits?: Limits, tool = waitTool()): Promise<string> {
  return await scene(args, limits, tool).resultOf();
}

describe('wait_until', () => {
  it('waits for a number of seconds and returns the time', async () => {
    expect(await resultOf({ seconds: 90 })).toBe('The wait is over. It is 2026-01-01T00:01:30.000Z now.');
  });

  it('waits until a time in any time zone', async () => {
    expect(await resultOf({ time: '2026-01-01T02:30+02:00' })).toBe(
      'The wait is over. It is 2026-01-01T00:30:00.000Z now.',
    );
  });

  it('ends early when the user sends a message, and says so [P30]', async () => {
    const { stage, run, resultOf } = scene({ seconds: 900 });
    await stage.advance(60_000);
    run.steer('Are you there?');
    expect(await resultOf()).toBe(
      'The wait until 2026-01-01T00:15:00.000Z ended early, because the user sent a message. It is 2026-01-01T00:01:00.000Z now.',
    );
  });

  it('ends immediately for a time in the past', async () => {
    expect(await resultOf({ time: '2025-12-31T23:00:00Z' })).toBe(
      'The wait is over. It is 2026-01-01T00:00:00.000Z now.',
    );
  });

  it('refuses immediately to wait beyond the time limit of the run [P30]', async () => {
    expect(await resultOf({ seconds: 7200 })).toBe(
      'The call was not run: this run will reach its time limit in 3600 seconds, before 2026-01-01T02:00:00.000Z. ' +
        'It is 2026-01-01T00:00:00.000Z now. Choose an earlier time, or end your work and say what remains to be done.',
    );
    expect(await resultOf({ seconds: 7200 }, { ms: 3 * hour })).toMatch(/^The wait is over/);
  });

  it('waits at most 30 days, or as long as the option allows', async () => {
    const limits = { ms: 100 * maxWaitMs };
    expect(maxWaitMs).toBe(30 * 86_400_000);
    expect(await resultOf({ time: '2026-02-01T00:00:00Z' }, limits)).toContain(
      '2026-02-01T00:00:00.000Z is 31.0 days from now, but the longest wait is 30.0 days.',
    );
    const short = waitTool({ maxMs: 60_000 });
    expect(await resultOf({ time: '2026-01-01T00:02:00Z' }, limits, short)).toContain(
      'is 120 seconds from now, but the longest wait is 60 seconds.',
    );
    expect(await resultOf({ seconds: 61 }, limits, short)).toBe(
      'The arguments were rejected: seconds must be at most 60',
    );
    expect(await resultOf({ seconds: maxWaitMs / 1000 }, limits)).toMatch(/^The wait is over/);
  });

  it('needs exactly one argument, and a time with a time zone', async () => {
    for (const args of [{}, { seconds: 1, time: '2026-01-01T00:00:00Z' }])
      expect(await resultOf(args)).toBe(
        'The call was not run: it needs either "time" or "seconds". Pass exactly one of them.',
      );
    for (const time of [
      'tomorrow',
      '2026-01-01T10:00:00',
      '2026-01-01',
      '2026-13-01T00:00:00Z',
      '12345',
      '2026-02-30T00:00:00Z',
      '2026-02-29T23:00:00-05:00',
    ])
      expect(await resultOf({ time })).toBe(
        `The call was not run: "time" is "${time}". Use a date that exists, in ISO 8601 with a time zone, such as 2026-01-31T17:00:00Z.`,
      );
    expect(await resultOf({ seconds: -1 })).toBe('The arguments were rejected: seconds must be at least 0');
  });

  it('rejects an invalid maximum', () => {
    for (const maxMs of [0, -1, Number.NaN, maxWaitMs + 1])
      expect(() => waitTool({ maxMs })).toThrow(
        `options.maxMs is invalid: it is ${maxMs}. Use 1 to 2592000000 milliseconds.`,
      );
  });
});

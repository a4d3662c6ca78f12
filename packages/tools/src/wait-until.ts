import type { JsonObject, Tool, ToolContext, WaitStart } from '@cobbler/agent';
import { AgentError, defineTool, toolOutput } from '@cobbler/agent';
import { read, record, when } from '@cobbler/agent/input';
import { isoTime, timeOf } from '@cobbler/agent/values';

/** Options of {@link waitTool}. */
export interface WaitToolOptions {
  /** Longest wait in milliseconds. Default and maximum 2,592,000,000 (30 days). */
  readonly maxMs?: number;
}

/** Arguments of wait_until: exactly one of them. */
export interface WaitUntilArgs {
  /** A time in ISO 8601, with a time zone. */
  readonly time?: string;
  readonly seconds?: number;
}

/** Longest wait in milliseconds: 30 days. */
export const maxWaitMs: number = 30 * 86_400_000;

const readOptions = record<WaitToolOptions>({
  maxMs: when(
    (value) => typeof value === 'number' && value >= 1 && value <= maxWaitMs,
    `1 to ${maxWaitMs} milliseconds`,
  ),
});

/**
 * Creates wait_until, with which the model waits until a time or for a number of seconds without spending turns. A message
 * from the user ends the wait early. The wait counts toward the run's time limit `limits.ms`, so a wait that would exceed it is
 * rejected immediately. With a runner, the wait survives restarts and needs no process.
 * @throws AgentError `invalid` if `maxMs` is not between 1 millisecond and 30 days.
 */
export function waitTool(options: WaitToolOptions = {}): Tool {
  const { maxMs = maxWaitMs } = read(options, readOptions);
  return defineTool<WaitUntilArgs>({
    name: 'wait_until',
    description:
      'Waits until a given time, or for a number of seconds, and then returns the current time. Use it instead of checking ' +
      'repeatedly whether something has happened. A message from the user ends the wait early.',
    parameters: parametersOf(maxMs),
    effect: 'read',
    subject: ({ time, seconds }) => time ?? `${seconds} s`,
    waitUntil: (args, start) => endOf(args, start, maxMs),
    execute: (_args, context) => reportOf(context),
  });
}

function parametersOf(maxMs: number): JsonObject {
  return {
    type: 'object',
    properties: {
      time: {
        type: 'string',
        description:
          'Time in ISO 8601 with a time zone, such as 2026-01-31T17:00:00Z. Do not combine with "seconds".',
      },
      seconds: {
        type: 'number',
        description: 'Number of seconds from now. Do not combine with "time".',
        minimum: 0,
        maximum: maxMs / 1000,
      },
    },
    additionalProperties: false,
  };
}

function endOf({ time, seconds }: WaitUntilArgs, { now, msLeft }: WaitStart, maxMs: number): number {
  if ((time === undefined) === (seconds === undefined))
    throw refusal('The call was not run: it needs either "time" or "seconds". Pass exactly one of them.');
  const until = time === undefined ? now + Number(seconds) * 1000 : timeIn(time);
  const ms = until - now;
  if (ms > maxMs)
    throw refusal(
      `The call was not run: ${isoTime(until)} is ${daysOf(ms)} from now, but the longest wait is ${daysOf(maxMs)}. It is ${isoTime(now)} now. Choose an earlier time.`,
    );
  if (ms > msLeft)
    throw refusal(
      `The call was not run: this run will reach its time limit in ${Math.floor(msLeft / 1000)} seconds, before ${isoTime(until)}. It is ${isoTime(now)} now. Choose an earlier time, or end your work and say what remains to be done.`,
    );
  return until;
}

/** Reads a time. Without a time zone, it would depend on where the program runs. */
function timeIn(text: string): number {
  const isWhole = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)$/i.test(text);
  const time = isWhole ? timeOf(text) : Number.NaN;
  if (Number.isFinite(time) && isDate(text.slice(0, 10))) return time;
  throw refusal(
    `The call was not run: "time" is ${JSON.stringify(text)}. Use a date that exists, in ISO 8601 with a time zone, such as 2026-01-31T17:00:00Z.`,
  );
}

/** Returns whether the calendar has a date such as 2026-01-31. Parsing a time turns February 30 into March 2. */
function isDate(date: string): boolean {
  const midnight = timeOf(`${date}T00:00:00Z`);
  return Number.isFinite(midnight) && isoTime(midnight).startsWith(date);
}

function reportOf({ wait }: ToolContext): unknown {
  if (wait === undefined) throw new Error('This program cannot wait. Continue without waiting.');
  const now = `It is ${isoTime(wait.endedAt)} now.`;
  if (wait.endedBy === 'time') return toolOutput({ content: `The wait is over. ${now}`, summary: 'waited' });
  const content = `The wait until ${isoTime(wait.until)} ended early, because the user sent a message. ${now}`;
  return toolOutput({ content, summary: 'ended early by a message' });
}

function daysOf(ms: number): string {
  const days = ms / 86_400_000;
  return days >= 1 ? `${days.toFixed(1)} days` : `${Math.ceil(ms / 1000)} seconds`;
}

function refusal(message: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'bad_wait', message });
}

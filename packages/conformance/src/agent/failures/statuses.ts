import type { ErrorKind } from '@cobbler/agent';
import type { MockReply } from '@cobbler/agent/testing';
import {
  answersStatus,
  expect,
  expectEqual,
  framesOf,
  replies,
  scriptResponse,
} from '@cobbler/agent/testing';
import { httpDate } from '../setup/http-date.ts';
import type { WireFixture } from '../setup/setup.ts';
import { askOnce, errorOf, repliesTo, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('status');
const hints = group('retry-after');

const fine = replies(scriptResponse(['Fine after all.']));

/** A retry hint of a service and the delay it must cause. */
interface Hint {
  readonly what: string;
  headers(setup: WireFixture): Record<string, string>;
  /** The requested delay in milliseconds; undefined if the hint is invalid. */
  readonly ms?: number;
}

function seconds(value: string, ms?: number): Hint {
  return { what: `retry-after: ${value}`, headers: () => ({ 'retry-after': value }), ...(ms && { ms }) };
}

function milliseconds(value: string, ms?: number): Hint {
  return {
    what: `retry-after-ms: ${value}`,
    headers: () => ({ 'retry-after-ms': value }),
    ...(ms && { ms }),
  };
}

/**
 * Returns a hint with a date this many milliseconds after the next whole second, in one of the three HTTP
 * forms.
 */
function date(form: 'usual' | 'older' | 'oldest', ms: number): Hint {
  const headers = ({ runtime }: WireFixture) => {
    const now = Math.ceil(runtime.now() / 1000) * 1000;
    return { 'retry-after': httpDate(now + ms, form) };
  };
  return { what: `a date in the ${form} form, ${ms} ms from now`, headers, ...(ms > 0 && { ms }) };
}

const shortHints: readonly Hint[] = [
  { what: 'no hint', headers: () => ({}) },
  seconds('1', 1000),
  seconds('2.5', 2500),
  seconds('60', 60_000),
  milliseconds('40', 40),
  milliseconds('999.5', 999.5),
  {
    what: 'two hints, where the one in milliseconds counts',
    headers: () => ({ 'retry-after': '9', 'retry-after-ms': '70' }),
    ms: 70,
  },
  {
    what: 'two hints, where only the one in seconds is valid',
    headers: () => ({ 'retry-after': '3', 'retry-after-ms': '-1' }),
    ms: 3000,
  },
  date('usual', 4000),
  date('older', 5000),
  date('oldest', 6000),
  ...['0', '0.0', '-3', '+3', '1e3', '0x10', 'NaN', 'Infinity', '3 s', '1,2', 'soon', '""'].map((value) =>
    seconds(value),
  ),
  ...['0', '-40', 'null', '1e9'].map((value) => milliseconds(value)),
  date('usual', -1000),
  date('older', -86_400_000),
  seconds('Sun, 99 Foo 2026 25:61:61 GMT'),
];

/** One hint of each form. Not every status needs all spellings. */
const fewHints: readonly Hint[] = [
  { what: 'no hint', headers: () => ({}) },
  seconds('2.5', 2500),
  milliseconds('40', 40),
  date('usual', 4000),
  seconds('0'),
  seconds('soon'),
];

/** Hints that are too long to wait for. */
const longHints: readonly Hint[] = [
  seconds('61', 61_000),
  milliseconds('60001', 60_001),
  date('usual', 3_600_000),
  date('oldest', 86_400_000),
  seconds('86400', 86_400_000),
  seconds('9'.repeat(25), Number.MAX_SAFE_INTEGER),
];

/** A status that is retried, with hints of each form. */
function retried(status: number, kind: ErrorKind, given: readonly Hint[] = fewHints): CaseDefinition {
  return the(
    `status ${status} is ${kind} and follows every form of retry-after [P5, P7]`,
    async (subject) => {
      let hint: Hint = { what: '', headers: () => ({}) };
      let current: WireFixture | undefined;
      const script = (_: unknown, index: number): MockReply =>
        index % 2 === 0 ? answersStatus(status, current && hint.headers(current)) : fine;
      await withSetup(subject, script, async (setup) => {
        current = setup;
        for (hint of given) {
          const { response, error, events } = await setup.ask();
          expect(response?.attempts === 2, `a response after ${hint.what}, found ${error?.message}`);
          const retry = events.find((event) => event.type === 'retry');
          expectEqual(
            [retry?.error.kind, retry?.error.status, retry?.error.retryable],
            [kind, status, true],
            `kind, status and retryable with ${hint.what}`,
          );
          const [min, max] = hint.ms === undefined ? [250, 500] : [hint.ms, hint.ms * 1.25];
          const pause = retry?.delayMs ?? -1;
          expect(
            pause >= min && pause <= max,
            `a delay of ${min} to ${max} ms for ${hint.what}, found ${pause}`,
          );
        }
      });
    },
  );
}

/** A status that is never retried, whatever hint the service sends. */
function final(status: number, kind: ErrorKind): CaseDefinition {
  return the(`status ${status} is ${kind} and not retried, whatever hint it has [P6]`, async (subject) => {
    const hintHeaders = [{}, { 'retry-after': '1' }, { 'retry-after-ms': '10' }, { 'retry-after': '86400' }];
    const script = hintHeaders.flatMap((headers) => repliesTo(subject, answersStatus(status, headers)));
    const attempts = script.length / hintHeaders.length;
    await withSetup(subject, script, async (setup) => {
      for (const headers of hintHeaders) {
        const { error, events } = await setup.ask();
        const found = [error?.kind, error?.status, error?.retryable, error?.attempts, events.length];
        expectEqual(
          found,
          [kind, status, false, attempts, 0],
          `kind, status, retryable, attempts, events: ${Object.keys(headers)}`,
        );
      }
      expectEqual(setup.server.exchanges.length, script.length, 'the number of requests');
    });
  });
}

export const statusCases: readonly CaseDefinition[] = [
  retried(429, 'rate_limit', shortHints),
  retried(503, 'agent', shortHints),
  retried(408, 'timeout'),
  ...[409, 500, 502, 504, 507, 511, 520, 524, 599].map((status) => retried(status, 'agent')),
  retried(529, 'rate_limit'),
  final(401, 'auth'),
  final(403, 'auth'),
  ...[400, 402, 404, 405, 406, 407, 410, 413, 415, 417, 421, 422, 431, 451].map((status) =>
    final(status, 'invalid'),
  ),
  hints('a hint longer than a minute fails immediately in any form [P7]', async (subject) => {
    const statuses = [429, 503, 529, 500, 408, 409];
    let asked: WireFixture | undefined;
    const script = (_: unknown, index: number): MockReply => {
      const hint = longHints[index % longHints.length];
      return answersStatus(
        statuses[Math.floor(index / longHints.length)] ?? 429,
        asked && hint?.headers(asked),
      );
    };
    await withSetup(subject, script, async (setup) => {
      asked = setup;
      for (let index = 0; index < statuses.length * longHints.length; index += 1) {
        const { error, events } = await setup.ask();
        const what = `${statuses[Math.floor(index / longHints.length)]} with ${longHints[index % longHints.length]?.what}`;
        expectEqual(
          [error?.kind, error?.attempts, events.length],
          ['rate_limit', 1, 0],
          `kind, attempts, events: ${what}`,
        );
        const ms = longHints[index % longHints.length]?.ms ?? 0;
        const found = error?.retryAfterMs ?? 0;
        expect(found >= ms && found <= ms * 1.25, `a retry-after of about ${ms} ms, found ${found}: ${what}`);
      }
      expectEqual(
        setup.server.exchanges.length,
        statuses.length * longHints.length,
        'the number of requests',
      );
    });
  }),
  hints(
    'the error after the last attempt contains the delay that the service requested [P7]',
    async (subject) => {
      const { outcome } = await askOnce(
        subject,
        [answersStatus(503, { 'retry-after': '5' })],
        {},
        { retry: { retries: 0 } },
      );
      const { kind, retryable, retryAfterMs } = errorOf(outcome);
      expectEqual([kind, retryable, retryAfterMs], ['agent', true, 5000], 'kind, retryable and hint');
    },
  ),
  hints('a hint applies only to the next attempt [P7]', async (subject) => {
    const script = [answersStatus(429, { 'retry-after': '8' }), answersStatus(429), fine];
    const { outcome } = await askOnce(subject, script);
    responseOf(outcome);
    const [first, second] = outcome.events.flatMap((event) =>
      event.type === 'retry' ? [event.delayMs] : [],
    );
    expectEqual(first, 8000, 'the first delay');
    expect(
      second !== undefined && second >= 500 && second <= 1000,
      `500 to 1000 ms for the second delay, found ${second}`,
    );
  }),
  hints('delays from hints never exceed the total timeout [P2]', async (subject) => {
    const busy = answersStatus(429, { 'retry-after': '40' });
    const { outcome, exchanges } = await askOnce(
      subject,
      [busy, busy, busy, fine],
      {},
      { timeouts: { totalMs: 100_000 } },
    );
    expectEqual(
      [errorOf(outcome).kind, errorOf(outcome).retryAfterMs],
      ['rate_limit', 40_000],
      'kind and hint',
    );
    expectEqual(exchanges.length, 3, 'the number of requests');
  }),
  hints('x-should-retry does not change which errors are retried [P5, P6]', async (subject) => {
    const combinations = [400, 401, 413, 429, 500, 529].flatMap((status) => [
      [status, 'true'] as const,
      [status, 'false'] as const,
    ]);
    const script = combinations.flatMap(([status, words]): MockReply[] => {
      const refused = answersStatus(status, { 'x-should-retry': words, 'retry-after': '1' });
      return status < 429 ? repliesTo(subject, refused) : [refused, fine];
    });
    await withSetup(subject, script, async (setup) => {
      for (const [status, words] of combinations) {
        const { response, error } = await setup.ask();
        expectEqual(
          [response?.attempts, error?.attempts],
          status < 429 ? [undefined, repliesTo(subject, answersStatus(status)).length] : [2, undefined],
          `the attempts with ${status} and ${words}`,
        );
      }
    });
  }),
  the('every retryable status is retried [P5]', async (subject) => {
    const statuses = [500, 502, 503, 529, 504, 429, 408];
    const script = [...statuses.map((status) => answersStatus(status)), fine];
    const { outcome } = await askOnce(subject, script);
    const retryStatuses = outcome.events.flatMap((event) =>
      event.type === 'retry' ? [event.error.status] : [],
    );
    expectEqual(retryStatuses, statuses, 'the statuses of the retries');
    expectEqual(responseOf(outcome).attempts, statuses.length + 1, 'the attempts');
  }),
  the('a status that is neither success nor failure is an error [P1]', async (subject) => {
    const { testing } = subject;
    for (const status of [204, 205, 300, 303, 304, 305, 306]) {
      const headers = { 'content-type': testing.contentType };
      const { outcome } = await askOnce(
        subject,
        [{ type: 'raw', status, headers }],
        {},
        { retry: { retries: 0 } },
      );
      expectEqual(outcome.response, undefined, `the response with ${status}`);
      expect(errorOf(outcome).message.length > 10, `an error with a message for ${status}`);
    }
  }),
  the('other success statuses than 200 give a response', async (subject) => {
    const { contentType, head } = subject.testing;
    const headers = { ...head?.headers, 'content-type': contentType };
    const body = framesOf(fine, subject.testing);
    for (const status of [200, 201, 202, 203]) {
      const { outcome } = await askOnce(subject, [{ type: 'raw', status, headers, body }]);
      expectEqual(responseOf(outcome).content, 'Fine after all.', `the text with ${status}`);
    }
  }),
];

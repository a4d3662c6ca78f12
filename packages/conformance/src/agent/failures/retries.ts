import type { AgentEvent, ErrorKind } from '@cobbler/agent';
import type { MockReply } from '@cobbler/agent/testing';
import {
  answersStatus,
  expect,
  expectEqual,
  failsWith,
  replies,
  responseStepsUntil,
  scriptResponse,
  show,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { httpDate } from '../setup/http-date.ts';
import type { Outcome, WireFixture } from '../setup/setup.ts';
import { askOnce, errorOf, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('retries');
const hints = group('retry-after');

const answer = scriptResponse(['Fine after all.']);
const busy = failsWith({ kind: 'busy', message: 'Too busy.' });

type AgentRetryEvent = AgentEvent & { readonly type: 'retry' };

function retriesIn(events: readonly AgentEvent[]): AgentRetryEvent[] {
  return events.filter((event) => event.type === 'retry');
}

/**
 * Fails unless the delays follow the back-off: they double up to 30 s, and the second half of each is random.
 */
function expectBackoff(events: readonly AgentEvent[], first: number = 0): void {
  for (const [index, { delayMs }] of retriesIn(events).entries()) {
    const maxMs = Math.min(500 * 2 ** (index + first), 30_000);
    expect(
      delayMs >= maxMs / 2 && delayMs <= maxMs,
      `delay ${index + 1} between ${maxMs / 2} and ${maxMs} ms, found ${delayMs}`,
    );
  }
}

/** A hint that must be followed. `ms` is the requested delay. */
function followsHint(what: string, replyFor: (setup: WireFixture) => MockReply, ms: number): CaseDefinition {
  return hints(`${what} is followed [P7]`, async (subject) => {
    let hint: MockReply = busy;
    await withSetup(
      subject,
      (_, index) => (index === 0 ? hint : replies(answer)),
      async (setup) => {
        hint = replyFor(setup);
        const outcome = await setup.ask();
        expectResponse(responseOf(outcome), answer, subject.testing);
        const [retry] = retriesIn(outcome.events);
        expect(
          retry !== undefined && retry.delayMs >= ms && retry.delayMs <= ms * 1.25,
          `a delay of ${ms} ms, found ${retry?.delayMs}`,
        );
      },
    );
  });
}

/** An invalid hint, so the normal back-off applies. */
function ignoresHint(what: string, headers: (setup: WireFixture) => Record<string, string>): CaseDefinition {
  return hints(`${what} falls back to the normal delay [P7]`, async (subject) => {
    let hint: MockReply = busy;
    await withSetup(
      subject,
      (_, index) => (index === 0 ? hint : replies(answer)),
      async (setup) => {
        hint = answersStatus(429, headers(setup));
        const outcome = await setup.ask();
        responseOf(outcome);
        expectBackoff(outcome.events);
      },
    );
  });
}

/** A hint that is too long to wait for. */
function tooLong(what: string, status: number, seconds: number, totalMs?: number): CaseDefinition {
  return hints(`${what} fails immediately and reports the delay [P7]`, async (subject) => {
    const script = [answersStatus(status, { 'retry-after': String(seconds) })];
    const link = totalMs === undefined ? {} : { timeouts: { totalMs } };
    const { outcome, exchanges } = await askOnce(subject, script, {}, link);
    const expected: ErrorKind = 'rate_limit';
    expectEqual(
      [errorOf(outcome).kind, errorOf(outcome).retryAfterMs],
      [expected, seconds * 1000],
      'kind and hint',
    );
    expectEqual(exchanges.length, 1, 'the number of requests');
    expectEqual(retriesIn(outcome.events), [], 'the retries');
  });
}

function dateHeader(ms: number): Record<string, string> {
  return { 'retry-after': httpDate(ms) };
}

/** Returns the next whole second, because HTTP dates have no fractions. */
function wholeSecond(setup: WireFixture): number {
  return Math.ceil(setup.runtime.now() / 1000) * 1000;
}

const outages: readonly (readonly [string, ErrorKind, MockReply])[] = [
  ['an overload', 'rate_limit', busy],
  ['a failing gateway', 'agent', answersStatus(503)],
  ['a connection that breaks before any response', 'network', { type: 'hang_up' }],
];

export const retryCases: readonly CaseDefinition[] = [
  the(
    'a response that is cut off is retried three times, then the last error is returned [P5]',
    async (subject) => {
      const cut = replies(answer, { steps: responseStepsUntil(answer, ({ type }) => type === 'close') });
      const { outcome, exchanges } = await askOnce(subject, [cut, cut, cut, cut, replies(answer)]);
      expectEqual([errorOf(outcome).kind, errorOf(outcome).attempts], ['network', 4], 'kind and attempts');
      expectEqual(exchanges.length, 4, 'the number of requests');
      expectEqual(
        retriesIn(outcome.events).map(({ attempt }) => attempt),
        [1, 2, 3],
        'the attempts in the error',
      );
    },
  ),
  ...outages.map(([what, kind, down]) =>
    the(`${what} of several minutes is retried until it ends [P5]`, async (subject) => {
      const script = (_: unknown, index: number) => (index < 12 ? down : replies(answer));
      let outcome: Outcome = { events: [] };
      await withSetup(subject, script, async (setup) => {
        const began = setup.runtime.monotonic();
        outcome = await setup.ask();
        const tookMs = setup.runtime.monotonic() - began;
        expect(tookMs > 120_000 && tookMs < 300_000, `two to five minutes, found ${tookMs} ms`);
      });
      expectResponse(responseOf(outcome), answer, subject.testing);
      const retries = retriesIn(outcome.events);
      expectEqual(
        new Set(retries.map(({ error }) => error.kind)),
        new Set([kind]),
        'the kinds of the failures',
      );
      expectBackoff(outcome.events);
      const left = retries.map(({ leftMs = -1 }) => leftMs);
      expect(
        left.every((ms, index) => ms >= 0 && ms < (left[index - 1] ?? 300_000)),
        `a decreasing remaining time, found ${left}`,
      );
    }),
  ),
  the('after five minutes of overload the last error is returned [P5]', async (subject) => {
    const { outcome, exchanges } = await askOnce(subject, Array(60).fill(busy));
    const pauses = retriesIn(outcome.events).map(({ delayMs }) => delayMs);
    const waited = pauses.reduce((sum, ms) => sum + ms, 0);
    expect(waited > 270_000 && waited <= 300_000, `delays of almost five minutes, found ${waited} ms`);
    expectEqual(
      [errorOf(outcome).kind, errorOf(outcome).attempts],
      ['rate_limit', exchanges.length],
      'the error',
    );
  }),
  the('the duration and number of retries can be configured [P5]', async (subject) => {
    const script = Array(60).fill(busy);
    for (const [retry, ...range] of [
      [{ forMs: 20_000 }, 5, 9],
      [{ forMs: 0 }, 1, 1],
      [{ retries: 6 }, 7, 7],
    ] as const) {
      const { exchanges } = await askOnce(subject, script, {}, { retry });
      const { length } = exchanges;
      expect(length >= range[0] && length <= range[1], `${show(retry)}: ${range} requests, found ${length}`);
    }
  }),
  the('the total timeout ends retries during an overload [P2]', async (subject) => {
    const link = { timeouts: { totalMs: 20_000 } };
    const { outcome } = await askOnce(subject, Array(60).fill(busy), {}, link);
    const waited = retriesIn(outcome.events).reduce((sum, { delayMs }) => sum + delayMs, 0);
    expect(waited < 20_000, `delays of less than 20 s, found ${waited} ms`);
    expectEqual(errorOf(outcome).kind, 'rate_limit', 'the kind of the error');
  }),
  the('the delays increase and are never zero [P5]', async (subject) => {
    const { outcome } = await askOnce(subject, [busy, busy, busy, replies(answer)]);
    expectResponse(responseOf(outcome), answer, subject.testing);
    expectEqual(responseOf(outcome).attempts, 4, 'the attempts');
    expectEqual(retriesIn(outcome.events).length, 3, 'the number of retries');
    expectBackoff(outcome.events);
  }),
  the('nothing is sent before the delay ends', async (subject) => {
    await withSetup(subject, [busy, replies(answer)], async (setup) => {
      const paused = Promise.withResolvers<number>();
      const emit = (event: AgentEvent) => event.type === 'retry' && paused.resolve(event.delayMs);
      const asked = setup.ask({}, { skipsDelays: false, emit });
      const delayMs = await paused.promise;
      await setup.untilSettled();
      await setup.runtime.advance(delayMs - 1);
      await setup.untilSettled();
      expectEqual(setup.server.exchanges.length, 1, 'the requests one millisecond before the delay ends');
      await setup.runtime.advance(2);
      expectResponse(responseOf(await asked), answer, subject.testing);
    });
  }),
  the('a retry event contains the reason as plain data', async (subject) => {
    const { outcome } = await askOnce(subject, [busy, replies(answer)]);
    const [retry] = retriesIn(outcome.events);
    expectEqual([retry?.attempt, retry?.error.kind], [1, 'rate_limit'], 'attempt and kind');
    expect(retry?.error.message.includes('Too busy.') === true, 'the message of the service');
    expectEqual(JSON.parse(JSON.stringify(retry)), retry, 'the event after JSON');
  }),
  the('a retry sends the same request', async (subject) => {
    const { outcome, exchanges } = await askOnce(subject, [busy, busy, replies(answer)], {
      system: 'Be brief.',
    });
    responseOf(outcome);
    expectEqual(
      exchanges.map(({ text }) => text),
      Array(3).fill(exchanges[0]?.text),
      'the request bodies',
    );
  }),
  the('no retry is made if none are allowed', async (subject) => {
    const { outcome, exchanges } = await askOnce(
      subject,
      [busy, replies(answer)],
      {},
      { retry: { retries: 0 } },
    );
    expectEqual(errorOf(outcome).attempts, 1, 'the attempts');
    expectEqual(exchanges.length, 1, 'the number of requests');
  }),
  the('after a retry only the text of the last attempt counts [P8]', async (subject) => {
    const first = scriptResponse(['Text that will be void.']);
    const cut = replies(first, { steps: responseStepsUntil(first, ({ type }) => type === 'close') });
    const { outcome } = await askOnce(subject, [cut, replies(answer)]);
    expectResponse(responseOf(outcome), answer, subject.testing);
    const at = outcome.events.findIndex(({ type }) => type === 'retry');
    const before = outcome.events
      .slice(0, at)
      .map((event) => (event.type === 'text_delta' ? event.text : ''));
    expectEqual(before.join(''), 'Text that will be void.', 'the text emitted before the retry');
    expectEqual(outcome.events.filter(({ type }) => type === 'retry').length, 1, 'the number of retries');
  }),
  the('the next request after retries starts with a fresh count', async (subject) => {
    await withSetup(subject, [busy, busy, replies(answer), busy, replies(answer)], async (setup) => {
      responseOf(await setup.ask());
      const second = await setup.ask();
      expectEqual(responseOf(second).attempts, 2, 'the attempts of the second request');
      expectBackoff(second.events);
    });
  }),
  followsHint(
    "the service's own hint",
    () => failsWith({ kind: 'rate_limit', message: 'Slow.', retryAfterMs: 2000 }),
    2000,
  ),
  followsHint(
    'a hint with an overload error',
    () => failsWith({ kind: 'busy', message: 'Slow.', retryAfterMs: 3000 }),
    3000,
  ),
  followsHint('a hint in seconds', () => answersStatus(429, { 'retry-after': '7' }), 7000),
  followsHint('a hint in seconds on 503', () => answersStatus(503, { 'retry-after': '11' }), 11_000),
  followsHint('a hint in milliseconds', () => answersStatus(429, { 'retry-after-ms': '1234' }), 1234),
  followsHint('a hint of exactly a minute', () => answersStatus(429, { 'retry-after': '60' }), 60_000),
  followsHint('a hint as a date', (setup) => answersStatus(429, dateHeader(wholeSecond(setup) + 9000)), 9000),
  ignoresHint('a hint of zero', () => ({ 'retry-after': '0' })),
  ignoresHint('a negative hint', () => ({ 'retry-after': '-5' })),
  ignoresHint('an invalid hint', () => ({ 'retry-after': 'soon' })),
  ignoresHint('an invalid hint in milliseconds', () => ({ 'retry-after-ms': 'NaN' })),
  ignoresHint('a date that has passed', (setup) => dateHeader(wholeSecond(setup) - 60_000)),
  tooLong('a hint of more than a minute', 429, 61),
  tooLong('a hint of one day with status 503', 503, 86_400),
  tooLong('a hint longer than the remaining time', 503, 30, 20_000),
];

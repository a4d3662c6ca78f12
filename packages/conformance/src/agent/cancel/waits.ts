import type { AgentEvent } from '@cobbler/agent';
import type { Timeouts } from '@cobbler/agent/provider';
import type { MockReply, ScriptAnswer, Step, UnsupportedFeature } from '@cobbler/agent/testing';
import {
  answersStatus,
  callBlock,
  expect,
  expectEqual,
  expectOneOf,
  framed,
  LiveStream,
  replies,
  responseSteps,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { needsOf, places, replyUpTo } from '../setup/positions.ts';
import type { Outcome, WireFixture } from '../setup/setup.ts';
import { errorOf, promptly, responseOf, soon, turns, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('waits');

const spoken: ScriptAnswer = scriptResponse([
  'A text of some length.',
  callBlock('call_1', 'put', { value: 'some length' }),
]);

/** Timeouts far apart, so that the duration shows which one ended the request. */
const limits: Timeouts = { headersMs: 10_000, stallMs: 20_000, progressMs: 40_000, totalMs: 90_000 };

/** Returns the steps of `spoken` up to the first one of this block and type. */
function until(at: number, type: Step['type']): Step[] {
  const steps = responseSteps(spoken);
  return steps.slice(0, steps.findIndex((step) => step.type === type && 'at' in step && step.at === at) + 1);
}

/** A case whose response stalls. The request must end at `limit`, not before, and close the connection. */
function endsAt(
  what: string,
  limit: number,
  makeReply: () => MockReply,
  ...needs: UnsupportedFeature[]
): CaseDefinition {
  return the(
    what,
    async (subject) => {
      await withSetup(
        subject,
        [makeReply()],
        async (setup) => {
          const asked = setup.ask();
          const exchange = await setup.server.arrival(0);
          await setup.untilSettled();
          await setup.runtime.advance(limit - 100);
          await setup.untilSettled();
          expect(!(await isOver(asked)), `the request to continue for ${limit - 100} ms`);
          await setup.runtime.advance(200);
          expectEqual(errorOf(await asked).kind, 'timeout', 'the kind of the error');
          await promptly(exchange.left, 1000, 'the connection');
        },
        { timeouts: limits, retry: { retries: 0 } },
      );
    },
    ...needs,
  );
}

async function isOver(asked: Promise<Outcome>): Promise<boolean> {
  return Promise.race([asked.then(() => true), soon(0).then(() => false)]);
}

/** Sends a response step by step with the timeouts above. */
async function onLive(
  subject: ContractSubject,
  answer: ScriptAnswer,
  act: (live: LiveRequest) => Promise<void>,
  timeouts: Partial<Timeouts> = {},
): Promise<void> {
  const stream = new LiveStream();
  const link = { timeouts: { ...limits, ...timeouts }, retry: { retries: 0 } };
  await withSetup(
    subject,
    [{ type: 'live', stream }],
    async (setup) => {
      const events: AgentEvent[] = [];
      const asked = setup.ask({}, { emit: (event) => events.push(event) });
      await setup.server.arrival(0);
      const { testing } = subject;
      stream.send(framed(testing.begin(answer), testing));
      const say = async (...steps: Step[]) => {
        const before = events.length;
        stream.send(stepFrames(steps, replies(answer), testing));
        for (let tries = 0; events.length === before && tries < 200; tries += 1) await soon();
      };
      const ping = async () => {
        stream.send(framed(testing.noise(), testing));
        await turns(3);
      };
      await act({ setup, stream, asked, say, ping });
    },
    link,
  );
}

interface LiveRequest {
  readonly setup: WireFixture;
  readonly stream: LiveStream;
  readonly asked: Promise<Outcome>;
  /** Sends steps and waits until something is emitted. */
  say(...steps: Step[]): Promise<void>;
  /** Sends noise and lets it arrive. */
  ping(): Promise<void>;
}

/**
 * Advances the clock in steps, with noise before each, until the request ends. Returns the duration in
 * milliseconds.
 */
async function pingUntilOver({ setup, asked, ping }: LiveRequest, maxMs: number): Promise<number> {
  const begin = setup.runtime.monotonic();
  while (setup.runtime.monotonic() - begin < maxMs && !(await isOver(asked))) {
    await ping();
    await setup.runtime.advance(4000);
  }
  return setup.runtime.monotonic() - begin;
}

export const waitCases: readonly CaseDefinition[] = [
  endsAt(
    'the headers timeout ends a request to a service that never responds [P2]',
    limits.headersMs,
    () => ({ type: 'silent' }),
  ),
  ...places.map((place) =>
    endsAt(
      `the stall timeout ends a stream that stalls ${place.what} [P2]`,
      limits.stallMs,
      () => replyUpTo(place, { ending: 'stall' }),
      ...needsOf(place),
    ),
  ),
  endsAt('the stall timeout ends a response without a body [P2]', limits.stallMs, () => ({
    type: 'live',
    stream: new LiveStream(),
  })),
  the('pings prevent the stall timeout but not the progress timeout [P2]', (subject) =>
    onLive(subject, spoken, async (live) => {
      await live.say(...until(0, 'delta'));
      const lived = await pingUntilOver(live, 80_000);
      expectEqual(errorOf(await live.asked).kind, 'timeout', 'the kind of the error');
      expect(
        lived >= limits.progressMs && lived <= limits.progressMs + 8000,
        `the request to take ${limits.progressMs} ms, found ${lived}`,
      );
    }),
  ),
  the('pings do not extend the total timeout [P2]', (subject) =>
    onLive(
      subject,
      spoken,
      async (live) => {
        await live.say(...until(0, 'delta'));
        const lived = await pingUntilOver(live, 120_000);
        expectEqual(errorOf(await live.asked).kind, 'timeout', 'the kind of the error');
        expect(lived <= limits.totalMs + 8000, `the request to take ${limits.totalMs} ms, found ${lived}`);
      },
      { progressMs: 1_000_000 },
    ),
  ),
  the('a slow response that makes progress does not time out', (subject) => {
    const slow = scriptResponse(['Slow but sure.']);
    return onLive(subject, slow, async ({ setup, stream, asked, say }) => {
      await say({ type: 'open', at: 0 }, { type: 'delta', at: 0, text: 'Slow' });
      for (const text of [' but', ' su', 're.']) {
        await setup.runtime.advance(19_000);
        await say({ type: 'delta', at: 0, text });
      }
      await say({ type: 'close', at: 0 });
      stream.send(stepFrames([{ type: 'end' }], replies(slow), subject.testing));
      stream.end();
      expectResponse(responseOf(await asked), slow, subject.testing);
    });
  }),
  the('the total timeout ends an endless slow response [P2]', (subject) =>
    onLive(subject, spoken, async ({ setup, asked, say }) => {
      await say({ type: 'open', at: 0 }, { type: 'delta', at: 0, text: 'drip' });
      for (let ms = 0; ms < limits.totalMs - 10_000; ms += 10_000) {
        await setup.runtime.advance(10_000);
        await say({ type: 'delta', at: 0, text: ' drip' });
      }
      expect(!(await isOver(asked)), 'the request to continue until then');
      await setup.runtime.advance(10_100);
      expectEqual(errorOf(await asked).kind, 'timeout', 'the kind of the error');
    }),
  ),
  the('the total timeout includes retry delays and failed attempts [P2]', async (subject) => {
    const script: MockReply[] = [answersStatus(429, { 'retry-after': '50' }), { type: 'silent' }];
    await withSetup(
      subject,
      script,
      async (setup) => {
        const asked = setup.ask();
        await setup.server.arrival(1);
        await setup.untilSettled();
        await setup.runtime.advance(39_000);
        expect(!(await isOver(asked)), 'the second attempt to continue');
        await setup.runtime.advance(1500);
        const error = errorOf(await asked);
        expectEqual([error.kind, error.attempts], ['timeout', 2], 'kind and attempts');
      },
      { timeouts: { ...limits, headersMs: 80_000 } },
    );
  }),
  the('an error response whose body never ends is still reported', async (subject) => {
    const stuck: MockReply = {
      type: 'raw',
      status: 500,
      headers: { 'content-type': 'text/plain' },
      body: 'Half of',
      ending: 'stall',
    };
    await withSetup(
      subject,
      [stuck],
      async (setup) => {
        const asked = setup.ask();
        const exchange = await setup.server.arrival(0);
        await setup.untilSettled();
        await setup.runtime.advance(limits.stallMs + 100);
        expectOneOf(errorOf(await asked).kind, ['agent', 'timeout'], 'the kind of the error');
        await promptly(exchange.left, 1000, 'the connection');
      },
      { timeouts: limits, retry: { retries: 0 } },
    );
  }),
];

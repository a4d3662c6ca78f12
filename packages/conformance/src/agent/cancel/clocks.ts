import type { Runtime } from '@cobbler/agent';
import {
  answersStatus,
  expect,
  expectEqual,
  failsWith,
  framesOf,
  joinFrames,
  LiveStream,
  replies,
  responseSteps,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { httpDate } from '../setup/http-date.ts';
import { spoken, until } from '../setup/positions.ts';
import type { WireFixture } from '../setup/setup.ts';
import { errorOf, promptly, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';
import { hurried, limits, livedUnder } from './patience.ts';

const clocks = group('clock');

const fine = replies(scriptResponse(['Fine.']));

const day = 86_400_000;

/** Returns a runtime whose clocks the case can change. */
function clockSet(setup: WireFixture): {
  readonly runtime: Runtime;
  set(ms: number): void;
  sleep(ms: number): void;
} {
  let offset = 0;
  let slept = 0;
  const { timer, random, id, digest, fetch } = setup.runtime;
  return {
    runtime: {
      now: () => setup.runtime.now() + slept + offset,
      monotonic: () => setup.runtime.monotonic() + slept,
      timer,
      random,
      id,
      digest,
      fetch,
    },
    /** Changes the wall clock. */
    set(ms) {
      offset += ms;
    },
    /** Simulates a sleeping computer: both clocks advance, timers do not. */
    sleep(ms) {
      slept += ms;
    },
  };
}

export const clockCases: readonly CaseDefinition[] = [
  clocks('a request times out after the computer slept through a retry delay [P2]', async (subject) => {
    const busy = failsWith({ kind: 'busy', message: 'Busy.', retryAfterMs: 5000 });
    await withSetup(subject, [busy, { type: 'silent' }], async (setup) => {
      const { runtime, sleep } = clockSet(setup);
      const asked = setup.ask({}, { agent: setup.agent({ runtime }), skipsDelays: false });
      await setup.server.arrival(0);
      await setup.untilSettled();
      sleep(3 * day);
      await setup.runtime.advance(5000);
      await setup.untilSettled();
      await setup.runtime.advance(10);
      expectEqual(
        errorOf(await promptly(asked, 1000, 'the request')).kind,
        'timeout',
        'the kind of the error',
      );
    });
  }),
  clocks(
    'a request times out after the computer slept in the middle of the response [P2]',
    async (subject) => {
      const stream = new LiveStream();
      await withSetup(subject, [{ type: 'live', stream }], async (setup) => {
        const { runtime, sleep } = clockSet(setup);
        const asked = setup.ask({}, { agent: setup.agent({ runtime, ...hurried }) });
        const exchange = await setup.server.arrival(0);
        stream.send(
          joinFrames(framesOf(replies(spoken, { steps: until(spoken, 0, 'delta') }), subject.testing)),
        );
        await setup.untilSettled();
        sleep(3 * day);
        // The first timer due after the sleep.
        await setup.runtime.advance(limits.stallMs);
        expectEqual(
          errorOf(await promptly(asked, 1000, 'the request')).kind,
          'timeout',
          'the kind of the error',
        );
        await promptly(exchange.left, 1000, 'the connection');
      });
    },
  ),
  clocks('a change of the wall clock affects no timeout', async (subject) => {
    for (const jump of [-day, day]) {
      await withSetup(
        subject,
        [replies(spoken, { steps: until(spoken, 0, 'delta'), ending: 'stall' })],
        async (setup) => {
          const { runtime, set } = clockSet(setup);
          const asked = setup.ask({}, { agent: setup.agent({ runtime, ...hurried }) });
          await setup.server.arrival(0);
          await setup.untilSettled();
          set(jump);
          const lived = await livedUnder(setup, asked, 1000, () => {});
          expectEqual(errorOf(await asked).kind, 'timeout', 'the kind of the error');
          expect(
            Math.abs(lived - limits.stallMs) <= 2000,
            `the request to take ${limits.stallMs} ms, found ${lived}`,
          );
        },
      );
    }
  }),
  clocks('a change of the wall clock does not affect a retry delay in progress', async (subject) => {
    for (const jump of [-day, day]) {
      const busy = failsWith({ kind: 'busy', message: 'Busy.', retryAfterMs: 5000 });
      await withSetup(subject, [busy, fine], async (setup) => {
        const { runtime, set } = clockSet(setup);
        const began = setup.runtime.monotonic();
        const outcome = await setup.ask(
          {},
          { agent: setup.agent({ runtime }), emit: ({ type }) => type === 'retry' && set(jump) },
        );
        responseOf(outcome);
        expectEqual(setup.runtime.monotonic() - began, 5000, 'the delay');
      });
    }
  }),
  clocks(
    'a retry-after date is compared with the wall clock when the response arrives [P7]',
    async (subject) => {
      let at = 0;
      await withSetup(
        subject,
        (_, index) => (index === 0 ? answersStatus(429, { 'retry-after': httpDate(at) }) : fine),
        async (setup) => {
          const { runtime, set } = clockSet(setup);
          set(3 * day);
          at = Math.ceil(runtime.now() / 1000) * 1000 + 7000;
          const outcome = await setup.ask({}, { agent: setup.agent({ runtime }) });
          const retry = outcome.events.find((event) => event.type === 'retry');
          expect(
            retry !== undefined && retry.delayMs >= 7000 && retry.delayMs < 8000,
            `a delay of 7 s, found ${retry?.delayMs} ms`,
          );
        },
      );
    },
  ),
  clocks('a request times out after the computer slept past every timeout [P2]', async (subject) => {
    const stream = new LiveStream();
    await withSetup(subject, [{ type: 'live', stream }], async (setup) => {
      const asked = setup.ask();
      await setup.server.arrival(0);
      stream.send(
        joinFrames(framesOf(replies(spoken, { steps: until(spoken, 0, 'delta') }), subject.testing)),
      );
      await setup.untilSettled();
      await setup.runtime.advance(3 * day);
      stream.send(stepFrames(responseSteps(spoken).slice(2), replies(spoken), subject.testing));
      expectEqual(
        errorOf(await promptly(asked, 1000, 'the request')).kind,
        'timeout',
        'the kind of the error',
      );
    });
  }),
];

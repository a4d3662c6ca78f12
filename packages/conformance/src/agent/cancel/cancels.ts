import type { AgentEvent } from '@cobbler/agent';
import type { MockReply, ScriptAnswer } from '@cobbler/agent/testing';
import {
  answersStatus,
  expect,
  expectEqual,
  failsWith,
  framed,
  LiveStream,
  replies,
  responseSteps,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import type { Outcome, WireFixture } from '../setup/setup.ts';
import { errorOf, promptly, responseOf, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';

const the = group('cancel');

/** P3: real-time limits for the run to end and for the connection to close. */
const backMs = 250;
const closedMs = 1000;

const answer: ScriptAnswer = scriptResponse(['Some words of an answer.']);
const stalledReply: MockReply = replies(answer, {
  steps: responseSteps(answer).slice(0, 3),
  ending: 'stall',
});

/**
 * Aborts a request in progress. The run must reject in time, and the service must see the connection close.
 */
async function cancelled(
  setup: WireFixture,
  controller: AbortController,
  asked: Promise<Outcome>,
): Promise<void> {
  const exchange = setup.server.exchanges.at(-1);
  controller.abort();
  const outcome = await promptly(asked, backMs, 'the cancelled run');
  expectEqual([errorOf(outcome).kind, errorOf(outcome).retryable], ['aborted', false], 'kind and retryable');
  if (exchange !== undefined) await promptly(exchange.left, closedMs, 'the connection of a cancelled run');
}

export const cancelCases: readonly CaseDefinition[] = [
  the('a run cancelled before it starts sends nothing [P3]', async (subject) => {
    await withSetup(subject, [replies(answer)], async (setup) => {
      const outcome = await promptly(
        setup.ask({}, { signal: AbortSignal.abort() }),
        backMs,
        'the cancelled run',
      );
      expectEqual(errorOf(outcome).kind, 'aborted', 'the kind of the error');
      await setup.untilSettled();
      expectEqual(setup.server.exchanges.length, 0, 'the number of requests');
    });
  }),
  the('a run can be cancelled while it waits for the response headers [P3]', async (subject) => {
    await withSetup(subject, [{ type: 'silent' }], async (setup) => {
      const controller = new AbortController();
      const asked = setup.ask({}, { signal: controller.signal });
      await setup.server.arrival(0);
      await cancelled(setup, controller, asked);
    });
  }),
  the('a run can be cancelled in the middle of a stream [P3]', async (subject) => {
    await withSetup(subject, [stalledReply], async (setup) => {
      const controller = new AbortController();
      const received = Promise.withResolvers<void>();
      const emit = ({ type }: AgentEvent) => type === 'text_delta' && received.resolve();
      const asked = setup.ask({}, { signal: controller.signal, emit });
      await received.promise;
      await cancelled(setup, controller, asked);
    });
  }),
  the('a run can be cancelled from its own event callback [P3]', async (subject) => {
    await withSetup(subject, [replies(answer, { chunks: 'whole', ending: 'stall' })], async (setup) => {
      const controller = new AbortController();
      const emit = ({ type }: AgentEvent) => type === 'text_delta' && controller.abort();
      const outcome = await promptly(
        setup.ask({}, { signal: controller.signal, emit }),
        backMs * 4,
        'the run',
      );
      expectEqual(errorOf(outcome).kind, 'aborted', 'the kind of the error');
      expectEqual(outcome.events.length, 1, 'the events until the cancel');
    });
  }),
  the('a run can be cancelled during a retry delay [P3]', async (subject) => {
    await withSetup(
      subject,
      [failsWith({ kind: 'busy', message: 'Busy.' }), replies(answer)],
      async (setup) => {
        const controller = new AbortController();
        const paused = Promise.withResolvers<void>();
        const emit = ({ type }: AgentEvent) => type === 'retry' && paused.resolve();
        const asked = setup.ask({}, { signal: controller.signal, emit, skipsDelays: false });
        await paused.promise;
        await setup.untilSettled();
        controller.abort();
        expectEqual(
          errorOf(await promptly(asked, backMs, 'the cancelled run')).kind,
          'aborted',
          'the kind of the error',
        );
        await setup.runtime.advance(60_000);
        await setup.untilSettled();
        expectEqual(setup.server.exchanges.length, 1, 'the number of requests');
      },
    );
  }),
  the('a run can be cancelled while it reads an error body [P3]', async (subject) => {
    const stuck: MockReply = {
      type: 'raw',
      status: 500,
      headers: { 'content-type': 'text/plain' },
      body: 'Half',
      ending: 'stall',
    };
    await withSetup(subject, [stuck], async (setup) => {
      const controller = new AbortController();
      const asked = setup.ask({}, { signal: controller.signal });
      await setup.server.arrival(0);
      await setup.untilSettled();
      await cancelled(setup, controller, asked);
    });
  }),
  the('nothing is emitted after a cancel [P3]', async (subject) => {
    const stream = new LiveStream();
    await withSetup(subject, [{ type: 'live', stream }], async (setup) => {
      const { testing } = subject;
      const controller = new AbortController();
      const received = Promise.withResolvers<void>();
      const emit = ({ type }: AgentEvent) => type === 'text_delta' && received.resolve();
      const asked = setup.ask({}, { signal: controller.signal, emit });
      await setup.server.arrival(0);
      const [open, first, ...rest] = responseSteps(answer);
      stream.send(framed(testing.begin(answer), testing));
      stream.send(
        stepFrames(
          [open, first].filter((step) => step !== undefined),
          replies(answer),
          testing,
        ),
      );
      await received.promise;
      stream.send(stepFrames(rest, replies(answer), testing));
      controller.abort();
      const outcome = await promptly(asked, backMs, 'the cancelled run');
      const count = outcome.events.length;
      await setup.untilSettled();
      expectEqual(
        [errorOf(outcome).kind, outcome.events.length],
        ['aborted', count],
        'kind and number of events',
      );
    });
  }),
  the('a cancel after the response changes nothing', async (subject) => {
    await withSetup(subject, [replies(answer), replies(answer)], async (setup) => {
      const controller = new AbortController();
      const outcome = await setup.ask({}, { signal: controller.signal });
      controller.abort();
      expectResponse(responseOf(outcome), answer, subject.testing);
      expectResponse(responseOf(await setup.ask()), answer, subject.testing);
    });
  }),
  the('cancelling one run does not affect another [S0.31]', async (subject) => {
    const streams = [new LiveStream(), new LiveStream()] as const;
    const script = [
      { type: 'live', stream: streams[0] },
      { type: 'live', stream: streams[1] },
    ] as const;
    await withSetup(subject, script, async (setup) => {
      const { testing } = subject;
      const controller = new AbortController();
      const first = setup.ask({}, { signal: controller.signal });
      await setup.server.arrival(0);
      const second = setup.ask();
      await setup.server.arrival(1);
      for (const stream of streams) stream.send(framed(testing.begin(answer), testing));
      controller.abort();
      expectEqual(
        errorOf(await promptly(first, backMs, 'the cancelled run')).kind,
        'aborted',
        'the kind of the cancelled error',
      );
      streams[1].send(stepFrames(responseSteps(answer), replies(answer), testing));
      streams[1].end();
      expectResponse(responseOf(await second), answer, testing);
    });
  }),
  the('the same conversation can be sent again after a cancel', async (subject) => {
    await withSetup(subject, [stalledReply, replies(answer)], async (setup) => {
      const controller = new AbortController();
      const asked = setup.ask({}, { signal: controller.signal });
      await setup.server.arrival(0);
      await setup.untilSettled();
      await cancelled(setup, controller, asked);
      expectResponse(responseOf(await setup.ask()), answer, subject.testing);
    });
  }),
  the('the error of a cancelled run contains its token usage [P14]', async (subject) => {
    await withSetup(subject, [answersStatus(500), stalledReply], async (setup) => {
      const controller = new AbortController();
      const received = Promise.withResolvers<void>();
      const emit = ({ type }: AgentEvent) => type === 'text_delta' && received.resolve();
      const asked = setup.ask({}, { signal: controller.signal, emit });
      await received.promise;
      controller.abort();
      const error = errorOf(await promptly(asked, backMs, 'the cancelled run'));
      expectEqual(error.attempts, 2, 'the attempts');
      expect(error.wasted !== undefined && error.wasted.outputTokens > 0, 'the wasted tokens');
    });
  }),
];

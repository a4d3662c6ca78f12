import type { AgentEvent } from '@cobbler/agent';
import { AgentError, userMessage } from '@cobbler/agent';
import type { Frame, MockReply } from '@cobbler/agent/testing';
import {
  answersStatus,
  callBlock,
  expect,
  expectEqual,
  framed,
  framesOf,
  joinFrames,
  LiveStream,
  replies,
  scriptResponse,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import type { ResponsePosition } from '../setup/positions.ts';
import { endsInPart, needsOf, places, replyUpTo, spoken } from '../setup/positions.ts';
import { onSocket, rawParts } from '../setup/raw-responses.ts';
import type { Outcome, WireFixture } from '../setup/setup.ts';
import { errorOf, promptly, responseOf, soon, withSetup } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';

const the = group('cancel');
const onWire = socketGroup('cancel');

/** P3: real-time limits for the run to end and for the connection to close. */
const backMs = 250;
const closedMs = 1000;

const fine = replies(scriptResponse(['Fine.']));

/** Checks the result and the cleanup after a cancel. */
async function expectGivenBack(
  setup: WireFixture,
  asked: Promise<Outcome>,
  events: readonly AgentEvent[],
): Promise<void> {
  const outcome = await promptly(asked, backMs, 'the cancelled run');
  expectEqual([errorOf(outcome).kind, errorOf(outcome).retryable], ['aborted', false], 'kind and retryable');
  const count = events.length;
  const last = setup.server.exchanges.at(-1);
  if (last !== undefined) await promptly(last.left, closedMs, 'the connection of a cancelled run');
  expectEqual(setup.runtime.timers, 0, 'the number of timers left');
  expectEqual(events.length, count, 'the number of events after the run has ended');
}

/** A case in which the stream stalls at this position when the run is cancelled. */
function cancelledAt(place: ResponsePosition): CaseDefinition {
  return the(
    `a run can be cancelled ${place.what}, and the next one works [P3]`,
    async (subject) => {
      await withSetup(
        subject,
        [replyUpTo(place, { ending: 'stall' }), replies(place.answer)],
        async (setup) => {
          const controller = new AbortController();
          const events: AgentEvent[] = [];
          const asked = setup.ask({}, { signal: controller.signal, emit: (event) => events.push(event) });
          await setup.server.arrival(0);
          await setup.untilSettled();
          controller.abort();
          await expectGivenBack(setup, asked, events);
          expectResponse(responseOf(await setup.ask()), place.answer, subject.testing);
        },
      );
    },
    ...needsOf(place),
  );
}

/** An abort reason and the error with which the run ends. */
function reason(what: string, value: unknown, check: (error: AgentError) => void): CaseDefinition {
  return the(`a run aborted with ${what} ends with the matching error`, async (subject) => {
    for (const reply of [
      { type: 'silent' },
      replyUpTo(places[2] ?? { what: '', answer: spoken, steps: [] }, { ending: 'stall' }),
    ] as MockReply[]) {
      await withSetup(subject, [reply], async (setup) => {
        const controller = new AbortController();
        const asked = setup.ask({}, { signal: controller.signal });
        await setup.server.arrival(0);
        await setup.untilSettled();
        controller.abort(value);
        check(errorOf(await promptly(asked, backMs, 'the aborted run')));
      });
    }
  });
}

const deadline = new AgentError({
  kind: 'timeout',
  code: 'run',
  message: 'The run reached its time limit.',
});

export const cancelPointCases: readonly CaseDefinition[] = [
  ...places.map(cancelledAt),
  the('a run can be cancelled between its last payloads [P3]', async (subject) => {
    const parts = endsInPart(spoken, subject.testing).slice(1);
    for (const part of parts) {
      await withSetup(subject, [{ ...part, ending: 'stall' }], async (setup) => {
        const controller = new AbortController();
        const asked = setup.ask({}, { signal: controller.signal });
        await setup.server.arrival(0);
        await setup.untilSettled();
        controller.abort();
        const outcome = await promptly(asked, backMs, 'the cancelled run');
        expectEqual(errorOf(outcome).kind, 'aborted', 'the kind of the error');
      });
    }
  }),
  the(
    'a run cancelled as its response arrives either completes or is cancelled [P3, P4]',
    async (subject) => {
      await withSetup(subject, [fine, fine, fine, fine, fine, fine], async (setup) => {
        for (let turns = 0; turns < 6; turns += 1) {
          const controller = new AbortController();
          const asked = setup.ask({}, { signal: controller.signal });
          await setup.server.arrival(turns);
          for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
          controller.abort();
          const { response, error } = await promptly(asked, backMs, 'the run');
          expect(
            (response?.content ?? error?.kind) === (response ? 'Fine.' : 'aborted'),
            'a complete response or a cancel',
          );
        }
      });
    },
  ),
  the('a run can be cancelled in its second attempt [P3]', async (subject) => {
    await withSetup(subject, [answersStatus(500), { type: 'silent' }], async (setup) => {
      const controller = new AbortController();
      const events: AgentEvent[] = [];
      const asked = setup.ask({}, { signal: controller.signal, emit: (event) => events.push(event) });
      await setup.server.arrival(1);
      controller.abort();
      await expectGivenBack(setup, asked, events);
    });
  }),
  the('a run can be cancelled from the event of its own retry [P3]', async (subject) => {
    await withSetup(subject, [answersStatus(500), fine], async (setup) => {
      const controller = new AbortController();
      const emit = ({ type }: AgentEvent) => type === 'retry' && controller.abort();
      const outcome = await promptly(
        setup.ask({}, { signal: controller.signal, emit }),
        backMs * 2,
        'the run',
      );
      expectEqual([errorOf(outcome).kind, errorOf(outcome).attempts], ['aborted', 1], 'kind and attempts');
      expectEqual(setup.server.exchanges.length, 1, 'the number of requests');
    });
  }),
  the('nothing is emitted after the event that cancelled the run [P3]', async (subject) => {
    // On a wire without block ends, the end of the response emits all of them.
    const answer = scriptResponse(['Words.', callBlock('call_1', 'put', {}), callBlock('call_2', 'put', {})]);
    for (const type of ['text_delta', 'text', 'tool_call'] as const) {
      await withSetup(subject, [replies(answer, { chunks: 'whole' })], async (setup) => {
        const controller = new AbortController();
        const emit = (event: AgentEvent) => event.type === type && controller.abort();
        const outcome = await promptly(
          setup.ask({}, { signal: controller.signal, emit }),
          backMs * 4,
          'the run',
        );
        expectEqual(errorOf(outcome).kind, 'aborted', 'the kind of the error');
        expectEqual(outcome.events.at(-1)?.type, type, 'the last event');
        expectEqual(
          outcome.events.filter((event) => event.type === type).length,
          1,
          'the events of that type',
        );
      });
    }
  }),
  onWire('a run can be cancelled while a large request is being sent [P3]', async (subject) => {
    await onSocket(subject, [{ bytes: [], deaf: true }], async ({ setup, socket }) => {
      const controller = new AbortController();
      const agent = setup.agent({ baseURL: socket.url });
      const messages = [userMessage('x'.repeat(8 * 1024 * 1024))];
      const asked = setup.ask({ messages }, { agent, signal: controller.signal });
      await socket.arrival(0);
      await setup.untilSettled();
      controller.abort();
      const outcome = await promptly(asked, backMs, 'the cancelled run');
      expectEqual(errorOf(outcome).kind, 'aborted', 'the kind of the error');
      expectEqual(setup.runtime.timers, 0, 'the number of timers left');
    });
  }),
  onWire('a run can be cancelled in the middle of the response headers [P3]', async (subject) => {
    const { head } = rawParts(spoken, subject.testing);
    await onSocket(subject, [{ bytes: [head.slice(0, 30)] }], async ({ setup, socket, ask }) => {
      const controller = new AbortController();
      const asked = ask({ signal: controller.signal });
      const request = await socket.arrival(0);
      await setup.untilSettled();
      controller.abort();
      expectEqual(errorOf(await promptly(asked, backMs, 'the run')).kind, 'aborted', 'the kind of the error');
      await promptly(request.left, closedMs, 'the connection');
    });
  }),
  the('a run can be cancelled during an endless stream [P3]', async (subject) => {
    const { testing } = subject;
    const flood = joinFrames(Array<Frame>(5).fill(framed(testing.noise(), testing)));
    function* body(): Iterable<Frame> {
      // Starts a normal response first: a client may reject one whose first event is unknown, and then repeat
      // the request.
      yield framed(testing.begin(spoken), testing);
      for (;;) yield flood;
    }
    const headers = { 'content-type': testing.contentType };
    await withSetup(subject, [{ type: 'raw', status: 200, headers, body: body() }], async (setup) => {
      const controller = new AbortController();
      const asked = setup.ask({}, { signal: controller.signal });
      await setup.server.arrival(0);
      await soon(20);
      controller.abort();
      await expectGivenBack(setup, asked, []);
    });
  }),
  the('cancelling a run again, or after its end, has no effect', async (subject) => {
    await withSetup(subject, [{ type: 'silent' }], async (setup) => {
      const controller = new AbortController();
      const asked = setup.ask({}, { signal: controller.signal });
      await setup.server.arrival(0);
      controller.abort('once');
      controller.abort('twice');
      expectEqual(errorOf(await promptly(asked, backMs, 'the run')).kind, 'aborted', 'the kind of the error');
      controller.abort('again');
      await setup.untilSettled();
    });
  }),
  the('runs leave no listener on a shared signal [P18]', async (subject) => {
    const { EventEmitter } = await import('node:events');
    const cut = replyUpTo(places[2] ?? { what: '', answer: spoken, steps: [] });
    await withSetup(
      subject,
      (_, index) => [fine, answersStatus(400), cut, answersStatus(503)][index % 4] ?? fine,
      async (setup) => {
        const { signal } = new AbortController();
        for (let runs = 0; runs < 12; runs += 1) await setup.ask({}, { signal });
        expectEqual(
          EventEmitter.getEventListeners(signal, 'abort').length,
          0,
          'the number of listeners left',
        );
      },
    );
  }),
  the('one signal cancels twelve runs at the same time [P3]', async (subject) => {
    await withSetup(
      subject,
      () => ({ type: 'silent' }),
      async (setup) => {
        const controller = new AbortController();
        const asked = Array.from({ length: 12 }, () => setup.ask({}, { signal: controller.signal }));
        await setup.server.arrival(11);
        controller.abort();
        const outcomes = await promptly(Promise.all(asked), backMs, 'the cancelled runs');
        expectEqual(
          outcomes.map((outcome) => errorOf(outcome).kind),
          Array(12).fill('aborted'),
          'the kinds of the errors',
        );
        for (const { left } of setup.server.exchanges) await promptly(left, closedMs, 'a connection');
        expectEqual(setup.runtime.timers, 0, 'the number of timers left');
      },
    );
  }),
  the('a cancel does not affect the next request on the connection', async (subject) => {
    const stream = new LiveStream();
    await withSetup(subject, [fine, { type: 'live', stream }, fine], async (setup) => {
      responseOf(await setup.ask());
      const controller = new AbortController();
      const asked = setup.ask({}, { signal: controller.signal });
      await setup.server.arrival(1);
      stream.send(joinFrames(framesOf(fine, subject.testing).slice(0, 1)));
      await setup.untilSettled();
      controller.abort();
      const next = setup.ask();
      expectEqual(
        errorOf(await promptly(asked, backMs, 'the cancelled run')).kind,
        'aborted',
        'the kind of the error',
      );
      expectEqual(responseOf(await next).attempts, 1, 'the attempts of the next run');
    });
  }),
  reason('the timeout of a run', deadline, ({ kind, code, message }) =>
    expectEqual([kind, code, message], ['timeout', 'run', deadline.message], 'kind, code and message'),
  ),
  reason('the timeout of a signal', new DOMException('over', 'TimeoutError'), ({ kind }) =>
    expectEqual(kind, 'timeout', 'the kind of the error'),
  ),
  reason('a string', 'enough', ({ kind, message }) => {
    expectEqual(kind, 'aborted', 'the kind of the error');
    expect(message.length > 5, 'an error with a message');
  }),
  reason('null', null, ({ kind }) => expectEqual(kind, 'aborted', 'the kind of the error')),
];

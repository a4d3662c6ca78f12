import type { AgentEvent } from '@cobbler/agent';
import { AgentError, userMessage } from '@cobbler/agent';
import type { MockReply } from '@cobbler/agent/testing';
import {
  answersStatus,
  callBlock,
  expect,
  expectEqual,
  framesOf,
  LiveStream,
  replies,
  responseSteps,
  scriptResponse,
} from '@cobbler/agent/testing';
import { expectAnswer } from '../setup/compare.ts';
import type { ResponsePosition } from '../setup/positions.ts';
import { endsInPart, needsOf, places, spoken, toldTo } from '../setup/positions.ts';
import { onSocket, rawParts } from '../setup/raw-responses.ts';
import type { Outcome, WireFixture } from '../setup/setup.ts';
import { answered, failed, onStage, promptly, soon } from '../setup/setup.ts';
import type { CaseDefinition } from '../setup/subject.ts';
import { group, socketGroup } from '../setup/subject.ts';

const the = group('cancel');
const onWire = socketGroup('cancel');

/** Promise 3: real time until control is back, and until the connection is closed. */
const backMs = 250;
const closedMs = 1000;

const fine = replies(scriptResponse(['Fine.']));

/** Everything that a cancel has to leave as it was. */
async function expectGivenBack(
  stage: WireFixture,
  asked: Promise<Outcome>,
  events: readonly AgentEvent[],
): Promise<void> {
  const outcome = await promptly(asked, backMs, 'the cancelled run');
  expectEqual([failed(outcome).kind, failed(outcome).retryable], ['aborted', false], 'kind and retryable');
  const count = events.length;
  const last = stage.server.exchanges.at(-1);
  if (last !== undefined) await promptly(last.left, closedMs, 'the connection of a cancelled run');
  expectEqual(stage.runtime.timers, 0, 'the timers left behind');
  expectEqual(events.length, count, 'the events once it is over');
}

/** A stream that stands still at this place when the run is cancelled. */
function cancelledAt(place: ResponsePosition): CaseDefinition {
  return the(
    `a run is cancelled ${place.what}, and the next one works [P3]`,
    async (subject) => {
      await onStage(subject, [toldTo(place, { ending: 'stall' }), replies(place.answer)], async (stage) => {
        const controller = new AbortController();
        const events: AgentEvent[] = [];
        const asked = stage.ask({}, { signal: controller.signal, emit: (event) => events.push(event) });
        await stage.server.arrival(0);
        await stage.settled();
        controller.abort();
        await expectGivenBack(stage, asked, events);
        expectAnswer(answered(await stage.ask()), place.answer, subject.testing);
      });
    },
    ...needsOf(place),
  );
}

/** A reason to abort, and what the run then ends with. */
function reason(what: string, value: unknown, check: (error: AgentError) => void): CaseDefinition {
  return the(`a run that is aborted with ${what} ends with it`, async (subject) => {
    for (const play of [
      { type: 'silent' },
      toldTo(places[2] ?? { what: '', answer: spoken, steps: [] }, { ending: 'stall' }),
    ] as MockReply[]) {
      await onStage(subject, [play], async (stage) => {
        const controller = new AbortController();
        const asked = stage.ask({}, { signal: controller.signal });
        await stage.server.arrival(0);
        await stage.settled();
        controller.abort(value);
        check(failed(await promptly(asked, backMs, 'the aborted run')));
      });
    }
  });
}

const deadline = new AgentError({
  kind: 'timeout',
  code: 'run',
  message: 'The time limit of the run was reached.',
});

export const cancelPointCases: readonly CaseDefinition[] = [
  ...places.map(cancelledAt),
  the('a run is cancelled between the payloads of its end [P3]', async (subject) => {
    const parts = endsInPart(spoken, subject.testing).slice(1);
    for (const part of parts) {
      await onStage(subject, [{ ...part, ending: 'stall' }], async (stage) => {
        const controller = new AbortController();
        const asked = stage.ask({}, { signal: controller.signal });
        await stage.server.arrival(0);
        await stage.settled();
        controller.abort();
        const outcome = await promptly(asked, backMs, 'the cancelled run');
        expectEqual(failed(outcome).kind, 'aborted', 'the kind of the error');
      });
    }
  }),
  the(
    'a run cancelled in the same moment as its answer arrives is one or the other [P3, P4]',
    async (subject) => {
      await onStage(subject, [fine, fine, fine, fine, fine, fine], async (stage) => {
        for (let turns = 0; turns < 6; turns += 1) {
          const controller = new AbortController();
          const asked = stage.ask({}, { signal: controller.signal });
          await stage.server.arrival(turns);
          for (let turn = 0; turn < turns; turn += 1) await Promise.resolve();
          controller.abort();
          const { response, error } = await promptly(asked, backMs, 'the run');
          expect(
            (response?.content ?? error?.kind) === (response ? 'Fine.' : 'aborted'),
            'a whole answer or a cancel',
          );
        }
      });
    },
  ),
  the('a run is cancelled in its second attempt [P3]', async (subject) => {
    await onStage(subject, [answersStatus(500), { type: 'silent' }], async (stage) => {
      const controller = new AbortController();
      const events: AgentEvent[] = [];
      const asked = stage.ask({}, { signal: controller.signal, emit: (event) => events.push(event) });
      await stage.server.arrival(1);
      controller.abort();
      await expectGivenBack(stage, asked, events);
    });
  }),
  the('a run is cancelled from the event of its own retry [P3]', async (subject) => {
    await onStage(subject, [answersStatus(500), fine], async (stage) => {
      const controller = new AbortController();
      const emit = ({ type }: AgentEvent) => type === 'retry' && controller.abort();
      const outcome = await promptly(
        stage.ask({}, { signal: controller.signal, emit }),
        backMs * 2,
        'the run',
      );
      expectEqual([failed(outcome).kind, failed(outcome).attempts], ['aborted', 1], 'kind and attempts');
      expectEqual(stage.server.exchanges.length, 1, 'the number of requests');
    });
  }),
  the('nothing is emitted behind the event that cancelled the run [P3]', async (subject) => {
    // Nothing closes these blocks but the end, which then tells of all of them at once.
    const answer = scriptResponse(['Words.', callBlock('call_1', 'put', {}), callBlock('call_2', 'put', {})]);
    const steps = responseSteps(answer).filter(({ type }) => type !== 'close');
    for (const type of ['text', 'tool_call'] as const) {
      await onStage(subject, [replies(answer, { steps, chunks: 'whole' })], async (stage) => {
        const controller = new AbortController();
        const emit = (event: AgentEvent) => event.type === type && controller.abort();
        const outcome = await promptly(
          stage.ask({}, { signal: controller.signal, emit }),
          backMs * 4,
          'the run',
        );
        expectEqual(failed(outcome).kind, 'aborted', 'the kind of the error');
        expectEqual(outcome.events.at(-1)?.type, type, 'the last event');
        expectEqual(outcome.events.filter((event) => event.type === type).length, 1, 'events of that kind');
      });
    }
  }),
  onWire('a run is cancelled while a large request is stuck on its way [P3]', async (subject) => {
    await onSocket(subject, [{ bytes: [], deaf: true }], async ({ stage, socket }) => {
      const controller = new AbortController();
      const agent = stage.agent({ baseURL: socket.url });
      const messages = [userMessage('x'.repeat(8 * 1024 * 1024))];
      const asked = stage.ask({ messages }, { agent, signal: controller.signal });
      await socket.arrival(0);
      await stage.settled();
      controller.abort();
      const outcome = await promptly(asked, backMs, 'the cancelled run');
      expectEqual(failed(outcome).kind, 'aborted', 'the kind of the error');
      expectEqual(stage.runtime.timers, 0, 'the timers left behind');
    });
  }),
  onWire('a run is cancelled in the middle of a head [P3]', async (subject) => {
    const { head } = rawParts(spoken, subject.testing);
    await onSocket(subject, [{ bytes: [head.slice(0, 30)] }], async ({ stage, socket, ask }) => {
      const controller = new AbortController();
      const asked = ask({ signal: controller.signal });
      const request = await socket.arrival(0);
      await stage.settled();
      controller.abort();
      expectEqual(failed(await promptly(asked, backMs, 'the run')).kind, 'aborted', 'the kind of the error');
      await promptly(request.left, closedMs, 'the connection');
    });
  }),
  the('a run is cancelled under a flood that never ends [P3]', async (subject) => {
    const { testing } = subject;
    const flood = testing.noise().map(testing.frame).join('').repeat(5);
    function* body(): Iterable<string> {
      // Begun: a client may reject a response whose first event is of an unknown kind, and then send the request again.
      yield testing.begin(spoken).map(testing.frame).join('');
      for (;;) yield flood;
    }
    const headers = { 'content-type': testing.contentType };
    await onStage(subject, [{ type: 'raw', status: 200, headers, body: body() }], async (stage) => {
      const controller = new AbortController();
      const asked = stage.ask({}, { signal: controller.signal });
      await stage.server.arrival(0);
      await soon(20);
      controller.abort();
      await expectGivenBack(stage, asked, []);
    });
  }),
  the('a run cancelled twice, and once more when it is over, is cancelled once', async (subject) => {
    await onStage(subject, [{ type: 'silent' }], async (stage) => {
      const controller = new AbortController();
      const asked = stage.ask({}, { signal: controller.signal });
      await stage.server.arrival(0);
      controller.abort('once');
      controller.abort('twice');
      expectEqual(failed(await promptly(asked, backMs, 'the run')).kind, 'aborted', 'the kind of the error');
      controller.abort('again');
      await stage.settled();
    });
  }),
  the('a signal that outlives many runs keeps no listener of theirs [P18]', async (subject) => {
    const { EventEmitter } = await import('node:events');
    const cut = toldTo(places[2] ?? { what: '', answer: spoken, steps: [] });
    await onStage(
      subject,
      (_, index) => [fine, answersStatus(400), cut, answersStatus(503)][index % 4] ?? fine,
      async (stage) => {
        const { signal } = new AbortController();
        for (let runs = 0; runs < 12; runs += 1) await stage.ask({}, { signal });
        expectEqual(EventEmitter.getEventListeners(signal, 'abort').length, 0, 'the listeners left behind');
      },
    );
  }),
  the('twelve runs under one signal are all cancelled at once [P3]', async (subject) => {
    await onStage(
      subject,
      () => ({ type: 'silent' }),
      async (stage) => {
        const controller = new AbortController();
        const asked = Array.from({ length: 12 }, () => stage.ask({}, { signal: controller.signal }));
        await stage.server.arrival(11);
        controller.abort();
        const outcomes = await promptly(Promise.all(asked), backMs, 'the cancelled runs');
        expectEqual(
          outcomes.map((outcome) => failed(outcome).kind),
          Array(12).fill('aborted'),
          'the kinds',
        );
        for (const { left } of stage.server.exchanges) await promptly(left, closedMs, 'a connection');
        expectEqual(stage.runtime.timers, 0, 'the timers left behind');
      },
    );
  }),
  the('a cancel does not take the next request down with the connection', async (subject) => {
    const stream = new LiveStream();
    await onStage(subject, [fine, { type: 'live', stream }, fine], async (stage) => {
      answered(await stage.ask());
      const controller = new AbortController();
      const asked = stage.ask({}, { signal: controller.signal });
      await stage.server.arrival(1);
      stream.send(framesOf(fine, subject.testing).slice(0, 1).join(''));
      await stage.settled();
      controller.abort();
      const next = stage.ask();
      expectEqual(failed(await promptly(asked, backMs, 'the cancelled run')).kind, 'aborted', 'the kind');
      expectEqual(answered(await next).attempts, 1, 'the attempts of the next run');
    });
  }),
  reason('the time-out of a run', deadline, ({ kind, code, message }) =>
    expectEqual([kind, code, message], ['timeout', 'run', deadline.message], 'kind, code and message'),
  ),
  reason('the time-out of a signal', new DOMException('over', 'TimeoutError'), ({ kind }) =>
    expectEqual(kind, 'timeout', 'the kind of the error'),
  ),
  reason('a word', 'enough', ({ kind, message }) => {
    expectEqual(kind, 'aborted', 'the kind of the error');
    expect(message.length > 5, 'an error that says something');
  }),
  reason('nothing', null, ({ kind }) => expectEqual(kind, 'aborted', 'the kind of the error')),
];

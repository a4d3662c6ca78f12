import type { Timeouts } from '@cobbler/agent/provider';
import type { Frame, MockReply, ScriptAnswer, Step } from '@cobbler/agent/testing';
import {
  expect,
  expectEqual,
  framed,
  framesOf,
  joinFrames,
  LiveStream,
  replies,
  scriptResponse,
  stepFrames,
} from '@cobbler/agent/testing';
import { expectResponse } from '../setup/compare.ts';
import { endsInPart, spoken, thoughtful, until } from '../setup/positions.ts';
import { onSocket, rawParts } from '../setup/raw-responses.ts';
import type { Outcome, WireFixture } from '../setup/setup.ts';
import { errorOf, promptly, responseOf, soon, withSetup } from '../setup/setup.ts';
import type { SocketResponse } from '../setup/socket-server.ts';
import type { AgentLink, CaseDefinition, ContractSubject, DefineCase } from '../setup/subject.ts';
import { group, lineGroup, socketGroup } from '../setup/subject.ts';

const the = group('waits');
const onWire = socketGroup('waits');

/** Timeouts far apart, so that the duration shows which one ended the request. */
export const limits: Timeouts = { headersMs: 10_000, stallMs: 20_000, progressMs: 40_000, totalMs: 90_000 };

/** The options of an agent with these timeouts and without retries. */
export const hurried: Pick<AgentLink, 'timeouts' | 'retry'> = { timeouts: limits, retry: { retries: 0 } };

const fine = replies(scriptResponse(['Fine.']));

/**
 * Advances the clock until the request ends and sends something before each step. Returns the duration in
 * milliseconds.
 */
export async function livedUnder(
  setup: WireFixture,
  asked: Promise<Outcome>,
  stepMs: number,
  say: () => void,
): Promise<number> {
  const begin = setup.runtime.monotonic();
  let isOver = false;
  void asked.then(() => {
    isOver = true;
  });
  for (let steps = 0; steps < 400 && !isOver; steps += 1) {
    say();
    for (let turns = 0; turns < 3; turns += 1) await soon(1);
    await setup.runtime.advance(stepMs);
  }
  await promptly(asked, 1000, 'the request');
  return setup.runtime.monotonic() - begin;
}

interface Dripping {
  readonly what: string;
  readonly answer: ScriptAnswer;
  readonly steps: readonly Step[];
  /** The data that is sent repeatedly. */
  drip(subject: ContractSubject, count: number): Frame;
  /** The timeout that ends the request. */
  readonly limit: number;
  readonly stepMs: number;
  readonly define?: DefineCase;
}

/** A case whose data keeps the connection alive but makes no progress. */
function ends(dripping: Dripping, ...needs: 'reasoning'[]): CaseDefinition {
  const { what, answer, steps, limit, stepMs, define = the } = dripping;
  return define(
    `${what} [P2]`,
    async (subject) => {
      const stream = new LiveStream();
      await withSetup(
        subject,
        [{ type: 'live', stream }],
        async (setup) => {
          const asked = setup.ask();
          const exchange = await setup.server.arrival(0);
          stream.send(joinFrames(framesOf(replies(answer, { steps }), subject.testing)));
          await setup.untilSettled();
          let count = 0;
          const lived = await livedUnder(setup, asked, stepMs, () =>
            stream.send(dripping.drip(subject, count++)),
          );
          expectEqual(errorOf(await asked).kind, 'timeout', 'the kind of the error');
          expect(
            lived > limit - stepMs && lived <= limit + stepMs,
            `the request to take about ${limit} ms, found ${lived}`,
          );
          await promptly(exchange.left, 1000, 'the connection');
        },
        hurried,
        15_000,
      );
    },
    ...needs,
  );
}

function pings({ testing }: ContractSubject): Frame {
  return framed(testing.noise(), testing);
}

/** A case whose response stalls. The request must end between these two times, in milliseconds. */
function silent(
  what: string,
  replyFor: (subject: ContractSubject) => MockReply,
  [minMs, maxMs]: readonly [number, number],
): CaseDefinition {
  return the(`${what} [P2]`, async (subject) => {
    await withSetup(
      subject,
      [replyFor(subject)],
      async (setup) => {
        const asked = setup.ask();
        await setup.server.arrival(0);
        await setup.untilSettled();
        const lived = await livedUnder(setup, asked, 30_000, () => {});
        expectEqual(errorOf(await asked).kind, 'timeout', 'the kind of the error');
        expectEqual(setup.server.exchanges.length, 1, 'the number of requests');
        expect(
          lived > minMs && lived <= maxMs,
          `the request to take ${minMs} to ${maxMs} ms, found ${lived}`,
        );
      },
      {},
      15_000,
    );
  });
}

/** A case whose HTTP bytes stop before the response starts. The headers timeout ends the request. */
function stuck(what: string, bytes: (subject: ContractSubject) => SocketResponse): CaseDefinition {
  return onWire(`the headers timeout applies to ${what} [P2]`, (subject) =>
    onSocket(
      subject,
      [bytes(subject)],
      async ({ setup, socket, ask }) => {
        const asked = ask();
        const request = await socket.arrival(0);
        await setup.untilSettled();
        const lived = await livedUnder(setup, asked, 500, () => {});
        expectEqual(errorOf(await asked).kind, 'timeout', 'the kind of the error');
        expect(
          lived <= limits.headersMs + 1000,
          `the request to take ${limits.headersMs} ms, found ${lived}`,
        );
        await promptly(request.left, 1000, 'the connection');
      },
      hurried,
    ),
  );
}

export const timeoutCases: readonly CaseDefinition[] = [
  ends({
    what: 'comments and empty lines prevent the stall timeout but not the progress timeout',
    answer: spoken,
    steps: until(spoken, 0, 'delta'),
    drip: ({ testing }) => (testing.contentType.startsWith('text/event-stream') ? ': still here\n\n' : '\n'),
    limit: limits.progressMs,
    stepMs: 2000,
    define: lineGroup('waits'),
  }),
  ends({
    what: 'an endless frame that arrives byte by byte prevents the stall timeout but not the progress timeout',
    answer: spoken,
    steps: until(spoken, 0, 'delta'),
    drip: ({ testing }, count) =>
      count < 500
        ? stepFrames([{ type: 'delta', at: 0, text: 'x'.repeat(500) }], replies(spoken), testing).slice(
            count,
            count + 1,
          )
        : 'x',
    limit: limits.progressMs,
    stepMs: 2000,
  }),
  ends({
    what: 'pings before the first content prevent the stall timeout but not the progress timeout',
    answer: spoken,
    steps: [],
    drip: pings,
    limit: limits.progressMs,
    stepMs: 2000,
  }),
  ends({
    what: 'pings in the middle of arguments prevent the stall timeout but not the progress timeout',
    answer: spoken,
    steps: until(spoken, 1, 'delta'),
    drip: pings,
    limit: limits.progressMs,
    stepMs: 2000,
  }),
  ends(
    {
      what: 'pings during reasoning count as progress, up to the total timeout',
      answer: thoughtful,
      steps: until(thoughtful, 0, 'delta'),
      drip: pings,
      limit: limits.totalMs,
      stepMs: 3000,
    },
    'reasoning',
  ),
  silent(
    'a request to a service that never responds ends by default',
    () => ({ type: 'silent' }),
    [30_000, 630_000],
  ),
  silent(
    'by default a stream that stalls ends after two minutes',
    () => replies(spoken, { steps: until(spoken, 0, 'delta'), ending: 'stall' }),
    [90_000, 150_000],
  ),
  stuck('a status line and headers that stop in the middle', ({ testing }) => ({
    bytes: [rawParts(spoken, testing).head],
  })),
  stuck('an interim response and nothing more', () => ({ bytes: ['HTTP/1.1 100 Continue\r\n\r\n'] })),
  stuck('a service that reads nothing', () => ({ bytes: [], deaf: true })),
  the(
    'a stream that stalls in its last payloads gives a complete response or a timeout, never a part [P1]',
    async (subject) => {
      for (const part of endsInPart(spoken, subject.testing)) {
        await withSetup(
          subject,
          [{ ...part, ending: 'stall' }],
          async (setup) => {
            const asked = setup.ask();
            await setup.server.arrival(0);
            await setup.untilSettled();
            await livedUnder(setup, asked, 5000, () => {});
            const { response, error } = await asked;
            if (response !== undefined)
              expectResponse({ ...response, usage: spoken.usage }, spoken, subject.testing);
            else expectEqual(error?.kind, 'timeout', 'the kind of the error');
          },
          hurried,
        );
      }
    },
  ),
  the('an error response with an endless slow body keeps kind and status [P2]', async (subject) => {
    const stream = new LiveStream();
    await withSetup(
      subject,
      [{ type: 'live', stream, status: 503 }],
      async (setup) => {
        const asked = setup.ask();
        const exchange = await setup.server.arrival(0);
        stream.send('Out of ');
        await setup.untilSettled();
        const lived = await livedUnder(setup, asked, 2000, () => stream.send('order '));
        expectEqual(
          [errorOf(await asked).kind, errorOf(await asked).status],
          ['agent', 503],
          'kind and status',
        );
        expect(lived <= limits.totalMs, `the request to end by the total timeout, found ${lived}`);
        await promptly(exchange.left, 1000, 'the connection');
      },
      hurried,
      15_000,
    );
  }),
  the('a request that timed out is not retried [P5]', async (subject) => {
    await withSetup(
      subject,
      [{ type: 'silent' }, fine],
      async (setup) => {
        const asked = setup.ask();
        await setup.server.arrival(0);
        await setup.untilSettled();
        await livedUnder(setup, asked, 2000, () => {});
        expectEqual(
          [errorOf(await asked).kind, setup.server.exchanges.length],
          ['timeout', 1],
          'kind and requests',
        );
      },
      { timeouts: limits },
    );
  }),
  the('endless data after the end of a response does not delay it [P2]', async (subject) => {
    const stream = new LiveStream();
    await withSetup(subject, [{ type: 'live', stream }], async (setup) => {
      const asked = setup.ask();
      const exchange = await setup.server.arrival(0);
      stream.send(joinFrames(framesOf(fine, subject.testing)));
      await setup.untilSettled();
      const noise = framed(subject.testing.noise(), subject.testing);
      const lived = await livedUnder(setup, asked, 400, () => stream.send(noise));
      expectEqual(responseOf(await asked).content, 'Fine.', 'the text');
      expect(lived <= 2000, `a response within two seconds after its end, found ${lived} ms`);
      await promptly(exchange.left, 1000, 'the connection');
    });
  }),
];

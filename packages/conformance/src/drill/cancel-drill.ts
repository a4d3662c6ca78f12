import type { Agent, Runtime } from '@cobbler/agent';
import { AgentError, systemRuntime, userMessage } from '@cobbler/agent';
import type { MockReply, SeededRandom, WireServer } from '@cobbler/agent/testing';
import {
  answersStatus,
  ContractFailure,
  expect,
  failsWith,
  framed,
  framesOf,
  LiveStream,
  replies,
  seededRandom,
  serveLoopback,
  wireServer,
} from '@cobbler/agent/testing';
import { needsOf, spoken, thoughtful, wholePlaces } from '../agent/setup/positions.ts';
import { lookUp, put } from '../agent/setup/request-parts.ts';
import type { ContractSubject } from '../agent/setup/subject.ts';

const key = 'sk-drill';

/** Real time after which a run or a connection counts as hanging, in milliseconds. */
const hangMs = 10_000;

/** The measurements of a drill, in milliseconds. */
export interface CancelFigures {
  /** Time from the cancel to the end of the run, for each run. */
  readonly back: readonly number[];
  /** Time from the cancel until the service saw the connection close, for each open connection. */
  readonly closed: readonly number[];
  /** Number of runs that completed before their cancel. */
  readonly answered: number;
  /** Number of timers that were still set after the end of a run. */
  readonly timers: number;
}

/** Options of a drill. */
export interface CancelDrillOptions {
  /** Number of runs to cancel. */
  readonly count: number;
  /** Seed of the random moments. Default 1. */
  readonly seed?: number;
}

/**
 * Cancels runs at random moments, with the real clock and on loopback: before the response, at all positions
 * in it, during retry delays, during endless streams and while an error is read. Needs Node.
 * @throws ContractFailure for a run that ends neither with its cancel nor with its response.
 */
export async function drillCancels(
  subject: ContractSubject,
  options: CancelDrillOptions,
): Promise<CancelFigures> {
  const random = seededRandom(options.seed ?? 1);
  const scenarios = scenariosOf(subject, random);
  let scenario = scenarios[0];
  const server = wireServer(subject.testing, () => (scenario?.reply ?? random.pick(scenarios).reply)(), {
    secret: key,
  });
  const loopback = await serveLoopback(server.handler);
  const { runtime, timers } = countedRuntime();
  const figures = { back: [] as number[], closed: [] as number[], answered: 0, timers: 0 };
  try {
    const agent = subject.create({ baseURL: loopback.url, apiKey: key, runtime });
    for (let count = 0; count < options.count; count += 1) {
      scenario = scenarios[count % scenarios.length];
      const moment = random.chance(0.2) ? 0 : random.between(0, 25);
      const { backMs, closedMs, isAnswered } = await cancelOnce(
        agent,
        server,
        scenario?.staysOpen === true,
        moment,
      );
      figures.back.push(backMs);
      if (closedMs !== undefined) figures.closed.push(closedMs);
      if (isAnswered) figures.answered += 1;
      figures.timers += timers();
    }
  } finally {
    await loopback.close();
  }
  return figures;
}

interface DrillScenario {
  readonly reply: () => MockReply;
  /** Only the client closes it. */
  readonly staysOpen: boolean;
}

/** The activity of the service when a run is cancelled. */
function scenariosOf({ testing }: ContractSubject, random: SeededRandom): DrillScenario[] {
  const fitting = wholePlaces.filter((place) =>
    needsOf(place).every((need) => testing.lacks[need] === undefined),
  );
  const stalls = fitting.map(
    ({ answer, steps }): DrillScenario => ({
      staysOpen: true,
      reply: () => replies(answer, { steps, ending: 'stall' }),
    }),
  );
  const headers = { 'content-type': 'text/plain' };
  const others: DrillScenario[] = [
    { staysOpen: true, reply: () => ({ type: 'silent' }) },
    {
      staysOpen: true,
      reply: () => ({ type: 'raw', status: 503, headers, body: 'Half of', ending: 'stall' }),
    },
    { staysOpen: true, reply: () => flood(framed(testing.noise(), testing), testing.contentType) },
    { staysOpen: true, reply: () => ({ type: 'live', stream: drip(framesOf(replies(spoken), testing)) }) },
    { staysOpen: false, reply: () => answersStatus(500) },
    { staysOpen: false, reply: () => answersStatus(429, { 'retry-after': '30' }) },
    { staysOpen: false, reply: () => failsWith({ kind: 'busy', message: 'Busy.' }) },
    { staysOpen: false, reply: () => ({ type: 'hang_up' }) },
    {
      staysOpen: false,
      reply: () => replies(random.pick([spoken, spoken, thoughtful]), { chunks: { size: 40 } }),
    },
  ];
  return [...stalls, ...others];
}

function flood(noise: Uint8Array, contentType: string): MockReply {
  function* body(): Iterable<Uint8Array> {
    for (;;) yield noise;
  }
  return { type: 'raw', status: 200, headers: { 'content-type': contentType }, body: body() };
}

/** A response that sends a frame every other millisecond and never ends. */
function drip(frames: readonly Uint8Array[]): LiveStream {
  const stream = new LiveStream();
  let next = 0;
  const say = () => {
    stream.send(frames[next++] ?? '');
    if (next < frames.length - 3) systemRuntime.timer(2, say);
  };
  say();
  return stream;
}

interface CancelResult {
  readonly backMs: number;
  readonly closedMs: number | undefined;
  readonly isAnswered: boolean;
}

async function cancelOnce(
  agent: Agent,
  server: WireServer,
  staysOpen: boolean,
  moment: number,
): Promise<CancelResult> {
  const controller = new AbortController();
  const before = server.exchanges.length;
  const asked = agent.run(
    { messages: [userMessage('Go.')], tools: [lookUp, put] },
    { signal: controller.signal },
  );
  const ended = asked.then(
    () => undefined,
    (error: unknown) => error,
  );
  await after(moment);
  const began = systemRuntime.monotonic();
  controller.abort();
  const error = await inTime(ended, 'a cancelled run');
  const backMs = systemRuntime.monotonic() - began;
  const isAborted = AgentError.is(error) && error.kind === 'aborted';
  expect(isAborted || error === undefined, `a cancel or a response, found ${String(error)}`);
  const exchange = server.exchanges[before];
  if (!isAborted || !staysOpen || exchange === undefined) {
    return { backMs, closedMs: undefined, isAnswered: error === undefined };
  }
  await inTime(exchange.left, 'the connection of a cancelled run');
  return { backMs, closedMs: systemRuntime.monotonic() - began, isAnswered: false };
}

/** Wraps the real runtime and counts the timers that are set. */
function countedRuntime(): { readonly runtime: Runtime; readonly timers: () => number } {
  let set = 0;
  const runtime: Runtime = {
    ...systemRuntime,
    timer(ms, fire) {
      let isSet = true;
      const over = () => {
        if (isSet) set -= 1;
        isSet = false;
      };
      set += 1;
      const takeBack = systemRuntime.timer(ms, () => {
        over();
        fire();
      });
      return () => {
        over();
        takeBack();
      };
    },
  };
  return { runtime, timers: () => set };
}

function after(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => void systemRuntime.timer(ms, resolve));
}

async function inTime<Value>(pending: Promise<Value>, what: string): Promise<Value> {
  let cancel = () => {};
  const late = new Promise<never>((_, reject) => {
    cancel = systemRuntime.timer(hangMs, () =>
      reject(new ContractFailure(`expected ${what} to end within ${hangMs} ms`)),
    );
  });
  try {
    return await Promise.race([pending, late]);
  } finally {
    cancel();
  }
}

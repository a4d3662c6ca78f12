import type {
  Agent,
  ContextPolicy,
  Event,
  ExecutorOptions,
  Run,
  Store,
  Tool,
  ToolOutput,
} from '@cobbler/agent';
import { Executor, memoryStore, toolOutput } from '@cobbler/agent';
import { firstOf, keepLast, summarize } from '@cobbler/agent/context';
import type { MockReply, SeededRandom } from '@cobbler/agent/testing';
import {
  answersStatus,
  assertValidHistory,
  ContractFailure,
  expect,
  expectEqual,
  failsWith,
  handlerTransport,
  replies,
  scriptResponse,
  seededRandom,
} from '@cobbler/agent/testing';
import { randomReply } from '../../random/random-response.ts';
import { randomText } from '../../random/random-value.ts';
import { places, replyUpTo, unfinished } from '../setup/positions.ts';
import { lookUp, put } from '../setup/request-parts.ts';
import type { WireFixture } from '../setup/setup.ts';
import { soon, withSetup } from '../setup/setup.ts';
import type { CaseDefinition, ContractSubject } from '../setup/subject.ts';
import { group } from '../setup/subject.ts';
import type { Seeds } from './laws.ts';

const the = group('lives');

/** Real-time limit for all sessions, in milliseconds. */
const limitMs = 120_000;

/** Short, so that a request that hangs ends soon. */
const timeouts = { headersMs: 3000, stallMs: 3000, progressMs: 6000, totalMs: 20_000 };

const fine = replies(scriptResponse(['Fine.']));

/** Returns a random response or failure. */
function randomOutcome(random: SeededRandom, { testing }: ContractSubject): MockReply {
  const kind = random.between(0, 11);
  const fitting = places.filter(({ needs }) => needs === undefined || testing.lacks[needs] === undefined);
  if (kind === 0) return answersStatus(random.pick([400, 401, 429, 500, 529]));
  if (kind === 1)
    return replyUpTo(random.pick(fitting), { ending: random.pick(['end', 'reset', 'stall'] as const) });
  if (kind === 2 && testing.lacks['in-stream-fault'] === undefined) {
    const faultKind = random.pick(['busy', 'agent', 'invalid'] as const);
    return replyUpTo(random.pick(fitting.filter(({ torn }) => torn === undefined)), {
      fault: { kind: faultKind, message: 'No.' },
    });
  }
  if (kind === 3 && testing.lacks['too-long'] === undefined)
    return failsWith({ kind: 'too_long', message: 'prompt is too long' });
  if (kind === 4) return { type: 'hang_up' };
  // A service pauses for its own tools, which are never declared here, and continues only from its own state.
  const reply = randomReply(random, { ...testing.lacks, pause: 'excluded here' });
  return kind === 5 ? { ...reply, steps: unfinished(reply.answer) } : reply;
}

function fileOutput(mediaType: string): ToolOutput {
  return toolOutput({ content: [{ type: 'file', mediaType, data: 'iVBO' }] });
}

/** Returns a tool that does random things its author did not intend. */
function randomTool(random: SeededRandom, tool: Tool): Tool {
  const doings: readonly Tool['execute'][] = [
    () => randomText(random),
    () => 'x'.repeat(300_000),
    () => undefined,
    () => `half \ud83d`,
    () => fileOutput('image/png'),
    () => fileOutput('image/bmp'),
    () => fileOutput('application/zip'),
    () => new Promise(() => {}),
    () => Promise.reject(new Error(randomText(random))),
    (args) => {
      args['self'] = args;
      return args;
    },
  ];
  return {
    ...tool,
    parameters: { type: 'object' },
    timeoutMs: 300,
    effect: random.pick(['read', 'idempotent', 'once'] as const),
    execute: (args, context) => random.pick(doings)(args, context),
  };
}

function randomContext(random: SeededRandom, agent: Agent): { context?: ContextPolicy } {
  const kind = random.between(0, 3);
  if (kind === 0) return {};
  const maxTokens = random.pick([1, 200, 2000]);
  const last = keepLast(random.between(1, 4));
  const summary = summarize(agent, { keep: random.between(1, 3) });
  return {
    context: { maxTokens, compact: kind === 1 ? last : kind === 2 ? summary : firstOf(summary, last) },
  };
}

/** Advances the clock until the run ends and acts at some of the moments. */
async function liveOut(setup: WireFixture, run: Run, meddle: (moment: number) => void): Promise<void> {
  let isOver = false;
  void run.result.finally(() => {
    isOver = true;
  });
  for (let moment = 0; !isOver; moment += 1) {
    expect(moment < 2000, 'every run to end');
    meddle(moment);
    await soon(0);
    await setup.runtime.advance(100);
  }
  assertValidHistory((await run).messages);
}

/** Copies a session as a killed process would leave it: without some of its last events. */
async function killed(random: SeededRandom, store: Store, from: string, to: string): Promise<boolean> {
  const events: readonly Event[] = await store.read(from);
  const left = events.slice(0, random.between(1, Math.max(1, events.length)));
  if (left.length === 0) return false;
  const epoch = await store.claim(to);
  await store.append(
    to,
    left.map((event) => ({ ...event, id: `${to}-${event.seq}` })),
    { epoch },
  );
  return true;
}

/**
 * Runs a session of several prompts. Each may be cancelled, steered, cut off at a limit, killed and resumed.
 */
async function life(setup: WireFixture, random: SeededRandom, agent: Agent, name: string): Promise<string> {
  const store = memoryStore({ now: () => setup.runtime.now() });
  const options: ExecutorOptions = {
    agent,
    store,
    runtime: setup.runtime,
    tools: [lookUp, put].map((tool) => randomTool(random, tool)),
    limits: { turns: random.between(1, 6), ...(random.chance(0.3) && { toolCalls: random.between(1, 3) }) },
    onLimit: random.pick(['return', 'finalize'] as const),
    toolErrors: random.pick(['continue', 'stop-batch'] as const),
    ...randomContext(random, agent),
  };
  const executor = new Executor(options);
  let sessionId = name;
  for (let prompts = random.between(1, 4); prompts > 0; prompts -= 1) {
    const cancelAt = random.chance(0.4) ? random.between(0, 30) : -1;
    const steerAt = random.chance(0.4) ? random.between(0, 30) : -1;
    const meddle = (run: Run) => (moment: number) => {
      if (moment === cancelAt) run.cancel();
      if (moment === steerAt) run.steer(randomText(random));
    };
    const run = executor.run(randomText(random), { sessionId });
    await liveOut(setup, run, meddle(run));
    if (!random.chance(0.4)) continue;
    const next = `${sessionId}-k`;
    if (!(await killed(random, store, sessionId, next))) continue;
    sessionId = next;
    const resumed = executor.resume(sessionId);
    await liveOut(setup, resumed, meddle(resumed));
  }
  return await lastWord(setup, new Executor({ ...options, limits: {} }), sessionId);
}

/** Checks that the next prompt gets a response, whatever happened before. */
async function lastWord(setup: WireFixture, executor: Executor, sessionId: string): Promise<string> {
  calm.add(setup);
  const run = executor.run('And now?', { sessionId });
  await liveOut(setup, run, () => {});
  calm.delete(setup);
  const { status, text, error } = await run;
  expectEqual(
    [status, text],
    ['complete', 'Fine.'],
    `the status and text of the last run (${error?.message ?? 'no error'})`,
  );
  return sessionId;
}

/** Fixtures whose service has stopped failing. */
const calm = new WeakSet<WireFixture>();

async function sessionsContinue(subject: ContractSubject, { first = 1, count = 100 }: Seeds): Promise<void> {
  let random = seededRandom(first);
  let now: WireFixture | undefined;
  const script = () => (now !== undefined && calm.has(now) ? fine : randomOutcome(random, subject));
  await withSetup(
    subject,
    script,
    async (setup) => {
      now = setup;
      const agent = setup.agent({ transport: handlerTransport(setup.server.handler), timeouts });
      for (let seed = first; seed < first + count; seed += 1) {
        random = seededRandom(seed);
        const before = setup.server.exchanges.length;
        try {
          await life(setup, random, agent, `life-${seed}`);
          const complaint = setup.server.exchanges
            .slice(before)
            .find((one) => one.complaint !== undefined)?.complaint;
          expect(complaint === undefined, `requests that the service accepts, but ${complaint}`);
        } catch (failure) {
          calm.delete(setup);
          const what = failure instanceof Error ? failure.message : String(failure);
          throw new ContractFailure(`seed ${seed}: ${what}`);
        }
      }
    },
    {},
    limitMs,
  );
}

/** Returns the cases that run random sessions, with these seeds. */
export function lifeCases({ first = 1, count = 100 }: Seeds): readonly CaseDefinition[] {
  return [
    the(
      'in any random session the service accepts each request and the next prompt works [P1, P12]',
      (subject) => sessionsContinue(subject, { first, count: Math.ceil(count / 2) }),
    ),
  ];
}

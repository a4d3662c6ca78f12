import type { Agent, AgentEvent, ModelRequest, ModelResponse, RequestContext } from '@cobbler/agent';
import { AgentError, systemRuntime, userMessage } from '@cobbler/agent';
import type {
  Exchange,
  FakeRuntime,
  MockReply,
  ReadRequest,
  WireScript,
  WireServer,
} from '@cobbler/agent/testing';
import {
  ContractFailure,
  expect,
  expectEqual,
  fakeRuntime,
  serveLoopback,
  show,
  wireServer,
} from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { leaks } from './leak.ts';
import { lookUp, put } from './request-parts.ts';
import type { AgentLink, ContractNetwork, ContractSubject } from './subject.ts';

/** The key of every case. Its characters have a meaning in patterns and replacements, to catch careless scrubbing. */
export const contractKey = "sk-contract-$&.*+$'7f3a9c";

/** How long a case may take, in milliseconds: nothing waits for real, so this is only ever a hang. */
const watchdogMs = 5000;

/** A service under a script, an agent before it, and a clock that only the case moves. */
export interface WireFixture {
  readonly subject: ContractSubject;
  readonly server: WireServer;
  readonly baseURL: string;
  readonly runtime: FakeRuntime;
  /** A new agent. */
  agent(link?: Partial<AgentLink>): Agent;
  /** Asks once; never rejects for what the agent does. */
  ask(request?: Partial<ModelRequest>, how?: Asking): Promise<Outcome>;
  /** The request of this index, read back. */
  request(index?: number): ReadRequest;
  /** Lets what is under way in this process and on loopback come to rest. */
  settled(): Promise<void>;
}

/** How to ask. */
export interface Asking {
  /** Default: the stage's own, one for all that is asked. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
  readonly emit?: (event: AgentEvent) => void;
  /** Whether back-off is waited out by moving the clock. Default true. */
  readonly patient?: boolean;
}

/** What came of asking. */
export interface Outcome {
  readonly response?: ModelResponse;
  readonly error?: AgentError;
  readonly events: readonly AgentEvent[];
}

/** The network of a subject that names none. */
const loopback: ContractNetwork = { serve: serveLoopback };

/** Sets a stage up, acts on it, checks that no request was refused or unreadable and no timer left, and takes it down. */
export async function onStage(
  subject: ContractSubject,
  script: WireScript,
  act: (stage: WireFixture) => Promise<void>,
  link: Partial<AgentLink> = {},
  limitMs: number = watchdogMs,
): Promise<void> {
  const server = wireServer(subject.testing, script, { secret: contractKey });
  const { network = loopback } = subject;
  const service = await network.serve(server.handler);
  const runtime = fakeRuntime();
  try {
    await watched(act(stageOf(subject, server, service.url, runtime, link)), limitMs * (subject.slack ?? 1));
    for (const [index, { complaint }] of server.exchanges.entries()) {
      expect(complaint === undefined, `request ${index + 1} to be acceptable, but ${complaint}`);
    }
    expect(runtime.timers === 0, `no timer to be left behind, found ${runtime.timers}`);
  } finally {
    await service.close();
  }
}

/** One request under a script, for cases that need nothing else. */
export async function askOnce(
  subject: ContractSubject,
  script: MockReply | readonly MockReply[],
  request: Partial<ModelRequest> = {},
  link: Partial<AgentLink> = {},
): Promise<{ readonly outcome: Outcome; readonly exchanges: readonly Exchange[] }> {
  let outcome: Outcome = { events: [] };
  let exchanges: readonly Exchange[] = [];
  const list = 'type' in script ? [script] : script;
  await onStage(
    subject,
    list,
    async (stage) => {
      outcome = await stage.ask(request);
      exchanges = stage.server.exchanges;
    },
    link,
  );
  return { outcome, exchanges };
}

function stageOf(
  subject: ContractSubject,
  server: WireServer,
  baseURL: string,
  runtime: FakeRuntime,
  link: Partial<AgentLink>,
): WireFixture {
  const transport = defined({ transport: subject.network?.transport });
  const agent = (own: Partial<AgentLink> = {}) =>
    subject.create({ baseURL, apiKey: contractKey, runtime, ...transport, ...link, ...own });
  let usual: Agent | undefined;
  return {
    subject,
    server,
    baseURL,
    runtime,
    agent,
    ask(request = {}, how = {}) {
      usual ??= agent();
      return ask(
        how.agent ?? usual,
        { messages: [userMessage('Hello.')], tools: [lookUp, put], ...request },
        how,
        runtime,
      );
    },
    request(index = 0) {
      const read = server.exchanges[index]?.request;
      if (read === undefined)
        throw new ContractFailure(`expected a readable request ${index + 1}, found none`);
      return read;
    },
    settled: () => turns(10),
  };
}

async function ask(agent: Agent, request: ModelRequest, how: Asking, runtime: FakeRuntime): Promise<Outcome> {
  const events: AgentEvent[] = [];
  const emit = (event: AgentEvent) => {
    events.push(event);
    if (event.type === 'retry' && how.patient !== false)
      void soon().then(() => runtime.advance(event.delayMs));
    how.emit?.(event);
  };
  const context: RequestContext = { emit, ...defined({ signal: how.signal }) };
  const outcome = await settle(agent.run(request, context), events);
  checkOutcome(outcome);
  return outcome;
}

async function settle(run: Promise<ModelResponse>, events: readonly AgentEvent[]): Promise<Outcome> {
  try {
    return { response: await run, events };
  } catch (error) {
    expect(AgentError.is(error), `nothing but an AgentError to be thrown, found ${String(error)}`);
    return { error, events };
  }
}

/** What holds for every outcome of every case. */
function checkOutcome({ response, error, events }: Outcome): void {
  const secret = leaks([error, events], [contractKey, encodeURIComponent(contractKey)]);
  expect(secret === undefined, `the key to appear nowhere, found it in ${secret}`);
  if (response === undefined) return;
  const last = events.slice(events.findLastIndex(({ type }) => type === 'retry') + 1);
  const told = last.filter((event) => 'index' in event).toSorted((left, right) => left.index - right.index);
  const text = told.map((event) => (event.type === 'text' ? event.text : '')).join('');
  expectEqual(text, response.content, 'the text blocks emitted, beside the answer');
  const blocks = [...Map.groupBy(told, ({ index }) => index).values()];
  // Half a surrogate pair may be shown as it comes; the answer has none.
  const shown = blocks.map((block) => textDeltas(block).toWellFormed()).join('');
  expectEqual(shown, response.content, 'the text deltas emitted since the last retry');
  expect(response.content.isWellFormed(), 'an answer without half characters');
  if (response.stopReason !== 'tool_use') return;
  const problems = response.toolCalls.map(({ problem }) => problem);
  // What spoils a call may come behind it, when it has been told.
  const calls = told
    .flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
    .map((call, index) => (problems[index] === undefined ? call : { ...call, problem: problems[index] }));
  expectEqual(calls, response.toolCalls, 'the calls emitted, beside those of the answer');
}

function textDeltas(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('');
}

/** The answer of an outcome that must be one. */
export function answered({ response, error }: Outcome): ModelResponse {
  if (response === undefined)
    throw new ContractFailure(`expected an answer, found the error ${show(error?.toJSON())}`);
  return response;
}

/** The error of an outcome that must be one. */
export function failed({ response, error }: Outcome): AgentError {
  if (error === undefined)
    throw new ContractFailure(`expected an error, found the answer ${show(response?.content)}`);
  return error;
}

/** A moment of real time: what is already under way in this process and on loopback goes on. */
export function soon(ms: number = 1): Promise<void> {
  return new Promise((resolve) => systemRuntime.timer(ms, resolve));
}

/** Some turns of the event loop, however long this machine takes for one. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await soon(2);
}

/**
 * Settles as the promise does, or fails when it has not within `ms`. Counted in turns of the event loop, so
 * that a machine with too much to do is not taken for an agent that hangs.
 */
export async function promptly<Value>(promise: Promise<Value>, ms: number, what: string): Promise<Value> {
  let isOver = false;
  const settled = promise.finally(() => {
    isOver = true;
  });
  settled.catch(() => {});
  for (let waited = 0; waited < ms && !isOver; waited += 5) await soon(5);
  expect(isOver, `${what} to be over within ${ms} ms`);
  return settled;
}

/** From one look of the watchdog to the next, and the most of it that counts, in milliseconds. */
const lookMs = 50;
const maxLookMs = 250;

/**
 * Settles as the promise does, or fails when it has not within `ms`. A process that stood still, as on a machine with
 * too much to do, has not had that time: of a look that comes late only a part counts.
 */
export async function watched<Value>(
  promise: Promise<Value>,
  ms: number = watchdogMs,
  what = 'the case',
): Promise<Value> {
  let clear = () => {};
  const hang = new Promise<never>((_, reject) => {
    const watch = (left: number) => {
      if (left <= 0) return reject(new ContractFailure(`expected ${what} to be over within ${ms} ms`));
      const began = systemRuntime.monotonic();
      clear = systemRuntime.timer(Math.min(left, lookMs), () =>
        watch(left - Math.min(systemRuntime.monotonic() - began, maxLookMs)),
      );
    };
    watch(ms);
  });
  try {
    return await Promise.race([promise, hang]);
  } finally {
    clear();
  }
}

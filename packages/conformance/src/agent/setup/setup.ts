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

/**
 * The API key of every case. It contains special characters of patterns and replacements, to detect unsafe
 * redaction.
 */
export const contractKey = "sk-contract-$&.*+$'7f3a9c";

/**
 * Time limit of a case in milliseconds. Cases never wait in real time, so reaching it means that the case
 * hangs.
 */
const watchdogMs = 5000;

/** A scripted service, agents that use it, and a clock that only the case advances. */
export interface WireFixture {
  readonly subject: ContractSubject;
  readonly server: WireServer;
  readonly baseURL: string;
  readonly runtime: FakeRuntime;
  /** The keys that the service knows: the last one is valid, and the ones before it have expired. */
  readonly keys: string[];
  /** Returns a new agent. */
  agent(link?: Partial<AgentLink>): Agent;
  /** Sends one request. Never rejects because of the agent. */
  ask(request?: Partial<ModelRequest>, how?: Asking): Promise<Outcome>;
  /** Returns the request of this index as the mock wire reads it. */
  request(index?: number): ReadRequest;
  /** Waits until this process and the loopback connections are idle. */
  untilSettled(): Promise<void>;
}

/** Options of a request. */
export interface Asking {
  /** Default: one agent, shared by all requests of the fixture. */
  readonly agent?: Agent;
  readonly signal?: AbortSignal;
  readonly emit?: (event: AgentEvent) => void;
  /** True to advance the clock through retry delays. Default true. */
  readonly skipsDelays?: boolean;
}

/** The result of a request. */
export interface Outcome {
  readonly response?: ModelResponse;
  readonly error?: AgentError;
  readonly events: readonly AgentEvent[];
}

/** The network of a subject without its own. */
const loopback: ContractNetwork = { serve: serveLoopback };

/**
 * Creates a fixture and runs the case on it. Then checks that every request was readable and accepted and
 * that no timer is left, and closes the service.
 */
export async function withSetup(
  subject: ContractSubject,
  script: WireScript,
  act: (setup: WireFixture) => Promise<void>,
  link: Partial<AgentLink> = {},
  limitMs: number = watchdogMs,
): Promise<void> {
  const keys = [contractKey];
  const server = wireServer(subject.testing, script, { secret: keys });
  const { network = loopback } = subject;
  const service = await network.serve(server.handler);
  const runtime = fakeRuntime();
  const setup = createSetup({ subject, server, keys, baseURL: service.url, runtime }, link);
  let asked = 0;
  const ask: WireFixture['ask'] = (...given) =>
    setup.ask(...given).finally(() => {
      asked += 1;
    });
  try {
    const limit = limitMs * (subject.slack ?? 1);
    // A case of many requests takes long on a busy machine; one that hangs settles none of them.
    await promptly(act({ ...setup, ask }), limit, undefined, () => asked);
    for (const [index, { complaint }] of server.exchanges.entries()) {
      expect(complaint === undefined, `request ${index + 1} to be accepted, but ${complaint}`);
    }
    expect(runtime.timers === 0, `no timer left, found ${runtime.timers}`);
  } finally {
    await service.close();
  }
}

/**
 * Returns the replies that one request without retries gets: an agent whose key can change sends a request again after
 * the service has rejected the key.
 */
export function repliesTo({ rotates }: ContractSubject, reply: MockReply): MockReply[] {
  const isRejection =
    reply.type === 'fault'
      ? reply.fault.kind === 'auth'
      : reply.type === 'raw' && (reply.status === 401 || reply.status === 403);
  return rotates === true && isRejection ? [reply, reply] : [reply];
}

/** Sends one request to a scripted service, for cases that need no fixture. */
export async function askOnce(
  subject: ContractSubject,
  script: MockReply | readonly MockReply[],
  request: Partial<ModelRequest> = {},
  link: Partial<AgentLink> = {},
): Promise<{ readonly outcome: Outcome; readonly exchanges: readonly Exchange[] }> {
  let outcome: Outcome = { events: [] };
  let exchanges: readonly Exchange[] = [];
  const list = 'type' in script ? [script] : script;
  await withSetup(
    subject,
    list,
    async (setup) => {
      outcome = await setup.ask(request);
      exchanges = setup.server.exchanges;
    },
    link,
  );
  return { outcome, exchanges };
}

function createSetup(
  parts: Pick<WireFixture, 'subject' | 'server' | 'keys' | 'baseURL' | 'runtime'>,
  link: Partial<AgentLink>,
): WireFixture {
  const { subject, server, baseURL, runtime } = parts;
  const transport = defined({ transport: subject.network?.transport });
  const agent = (own: Partial<AgentLink> = {}) =>
    subject.create({ baseURL, apiKey: contractKey, runtime, ...transport, ...link, ...own });
  let defaultAgent: Agent | undefined;
  return {
    ...parts,
    agent,
    ask(request = {}, how = {}) {
      defaultAgent ??= agent();
      return ask(
        how.agent ?? defaultAgent,
        { messages: [userMessage('Hello.')], tools: [lookUp, put], ...request },
        how,
        parts,
      );
    },
    request(index = 0) {
      const read = server.exchanges[index]?.request;
      if (read === undefined)
        throw new ContractFailure(`expected a readable request ${index + 1}, found none`);
      return read;
    },
    untilSettled: () => turns(10),
  };
}

async function ask(
  agent: Agent,
  request: ModelRequest,
  how: Asking,
  { runtime, keys }: Pick<WireFixture, 'runtime' | 'keys'>,
): Promise<Outcome> {
  const events: AgentEvent[] = [];
  const emit = (event: AgentEvent) => {
    events.push(event);
    if (event.type === 'retry' && how.skipsDelays !== false)
      void soon().then(() => runtime.advance(event.delayMs));
    how.emit?.(event);
  };
  const context: RequestContext = { emit, ...defined({ signal: how.signal }) };
  const outcome = await settle(agent.run(request, context), events);
  checkOutcome(outcome, keys);
  return outcome;
}

async function settle(run: Promise<ModelResponse>, events: readonly AgentEvent[]): Promise<Outcome> {
  try {
    return { response: await run, events };
  } catch (error) {
    expect(AgentError.is(error), `only an AgentError to be thrown, found ${String(error)}`);
    return { error, events };
  }
}

/** Checks that apply to every outcome of every case. */
function checkOutcome({ response, error, events }: Outcome, keys: readonly string[]): void {
  const secret = leaks([error, events], [...keys, ...keys.map(encodeURIComponent)]);
  expect(secret === undefined, `the key to appear nowhere, found it at ${secret}`);
  if (response === undefined) return;
  const last = events.slice(events.findLastIndex(({ type }) => type === 'retry') + 1);
  const emitted = last
    .filter((event) => 'index' in event)
    .toSorted((left, right) => left.index - right.index);
  const text = emitted.map((event) => (event.type === 'text' ? event.text : '')).join('');
  expectEqual(text, response.content, 'the text blocks emitted, compared with the response');
  const blocks = [...Map.groupBy(emitted, ({ index }) => index).values()];
  // Half a surrogate pair may be emitted as it arrives; the response contains none.
  const shown = blocks.map((block) => textDeltas(block).toWellFormed()).join('');
  expectEqual(shown, response.content, 'the text deltas emitted since the last retry');
  expect(response.content.isWellFormed(), 'a response without lone surrogates');
  if (response.stopReason !== 'tool_use') return;
  const problems = response.toolCalls.map(({ problem }) => problem);
  // Data after an emitted call can still make it invalid.
  const calls = emitted
    .flatMap((event) => (event.type === 'tool_call' ? [event.call] : []))
    .map((call, index) => (problems[index] === undefined ? call : { ...call, problem: problems[index] }));
  expectEqual(calls, response.toolCalls, 'the calls emitted, compared with those of the response');
}

function textDeltas(events: readonly AgentEvent[]): string {
  return events.map((event) => (event.type === 'text_delta' ? event.text : '')).join('');
}

/** Returns the response of an outcome, or fails if there is none. */
export function responseOf({ response, error }: Outcome): ModelResponse {
  if (response === undefined)
    throw new ContractFailure(`expected a response, found the error ${show(error?.toJSON())}`);
  return response;
}

/** Returns the error of an outcome, or fails if there is none. */
export function errorOf({ response, error }: Outcome): AgentError {
  if (error === undefined)
    throw new ContractFailure(`expected an error, found the response ${show(response?.content)}`);
  return error;
}

/** Waits for a moment of real time, in which pending work in this process and on loopback can continue. */
export function soon(ms: number = 1): Promise<void> {
  return new Promise((resolve) => systemRuntime.timer(ms, resolve));
}

/** Waits for a number of turns of the event loop, whatever their duration. */
export async function turns(count: number): Promise<void> {
  for (let turn = 0; turn < count; turn += 1) await soon(2);
}

/**
 * Settles as the promise does, or fails if it does not within `ms` after `progress` last changed. Counts turns of the
 * event loop, so that an overloaded machine does not look like an agent that hangs.
 */
export async function promptly<Value>(
  promise: Promise<Value>,
  ms: number,
  what = 'the case',
  progress = () => 0,
): Promise<Value> {
  let isOver = false;
  const settled = promise.finally(() => {
    isOver = true;
  });
  for (let waited = 0, before = 0; waited < ms && !isOver; waited = progress() === before ? waited + 5 : 0) {
    before = progress();
    await Promise.race([settled, soon(5)]);
  }
  expect(isOver, `${what} to end within ${ms} ms`);
  return settled;
}

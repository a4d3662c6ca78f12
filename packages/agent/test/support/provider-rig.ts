import type { AgentEvent, Capabilities, ModelRequest } from '../../src/interfaces/agent.ts';
import type { CreateAgentOptions } from '../../src/provider/create-agent.ts';
import { createAgent } from '../../src/provider/create-agent.ts';
import type { Wire } from '../../src/provider/wire/wire.ts';
import type { FakeRuntime } from '../../src/testing/fake-runtime.ts';
import { fakeRuntime } from '../../src/testing/fake-runtime.ts';
import { AgentError } from '../../src/values/errors.ts';
import { userMessage } from '../../src/values/message.ts';
import type { Answer } from './fake-server.ts';
import { FakeServer } from './fake-server.ts';
import { plainWire } from './plain-wire.ts';

export const able: Capabilities = {
  files: ['*/*'],
  reasoning: true,
  parallelCalls: true,
  output: 'native',
  sampling: true,
  cacheUsage: true,
};

export const hello: ModelRequest = { messages: [userMessage('Hello')], tools: [] };

/** An agent with a fake server and a clock that the test moves. */
export interface Rig {
  readonly agent: ReturnType<typeof createAgent>;
  readonly server: FakeServer;
  readonly runtime: FakeRuntime;
  readonly events: AgentEvent[];
  /** Sends a request and records its events in `events`. */
  ask(
    request?: Partial<ModelRequest>,
    signal?: AbortSignal,
  ): ReturnType<ReturnType<typeof createAgent>['run']>;
  /** Sends a request and returns the error that it must end with. */
  fails(request?: Partial<ModelRequest>, signal?: AbortSignal): Promise<AgentError>;
}

export function rig(
  script: Answer[],
  options: Partial<CreateAgentOptions> & { wire?: Partial<Wire> } = {},
): Rig {
  const { wire, ...rest } = options;
  const server = new FakeServer(...script);
  const runtime = fakeRuntime();
  const events: AgentEvent[] = [];
  const agent = createAgent(plainWire(wire), {
    model: 'plain-1',
    capabilities: able,
    runtime,
    transport: server.transport,
    ...rest,
  });
  const ask: Rig['ask'] = (request = {}, signal) =>
    agent.run(
      { ...hello, ...request },
      { emit: (event) => events.push(event), ...(signal !== undefined && { signal }) },
    );
  return {
    agent,
    server,
    runtime,
    events,
    ask,
    async fails(request, signal) {
      const error: unknown = await ask(request, signal).then(
        () => undefined,
        (thrown: unknown) => thrown,
      );
      if (!AgentError.is(error)) throw new Error(`Expected an AgentError, got ${String(error)}`);
      return error;
    },
  };
}

/** Lets promises settle without moving any clock. */
export async function settle(): Promise<void> {
  for (let round = 0; round < 100; round += 1) await undefined;
}

/** Moves the clock until the promise has settled, past any backoff. */
export async function hurry<Value>(runtime: FakeRuntime, promise: Promise<Value>): Promise<Value> {
  let isDone = false;
  const done = () => {
    isDone = true;
  };
  promise.then(done, done);
  for (let step = 0; step < 10_000; step += 1) {
    await settle();
    if (isDone) break;
    await runtime.advance(100);
  }
  return promise;
}

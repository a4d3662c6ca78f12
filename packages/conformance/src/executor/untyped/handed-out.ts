import type { ExecutorOptions, Store } from '@cobbler/agent';
import { AgentError, toolOutput } from '@cobbler/agent';
import { memoryBlobs, offload } from '@cobbler/agent/context';
import { exportSession } from '@cobbler/agent/format';
import { createHarness } from '@cobbler/agent/harness';
import type { ModelStep, RunFixture } from '@cobbler/agent/testing';
import {
  ContractFailure,
  calls,
  expectEqual,
  modelResponse,
  scriptedModel,
  textResponse,
} from '@cobbler/agent/testing';
import type { ExecutorCase } from '../setup/case.ts';
import { group } from '../setup/case.ts';
import { toolWith } from './place.ts';

const the = group('untyped callers');

/** Receives what a run hands out. */
type Receiver = (value: unknown) => void;

/** Changes a value everywhere, as far as it lets itself be changed. */
function damage(value: unknown, depth = 0): void {
  if (typeof value !== 'object' || value === null || depth > 12 || value instanceof AbortSignal) return;
  for (const name of Object.keys(value)) {
    const item: unknown = Reflect.get(value, name);
    if (typeof item === 'function') continue;
    damage(item, depth + 1);
    // Returns false if the value is frozen.
    Reflect.set(value, name, typeof item === 'string' ? 'damaged' : typeof item === 'number' ? 1e9 : null);
  }
  Reflect.set(value, 'damaged', true);
  if (Array.isArray(value) && Object.isExtensible(value)) value.push({ role: 'user', content: 'damaged' });
}

/** The requests to the model and the stored events, as text. */
interface ConversationRecord {
  readonly requests: string[];
  readonly log: string[];
}

/** Runs a conversation in which every function of the caller passes what it is given to the receiver. */
async function conversation(setup: RunFixture, receive: Receiver): Promise<ConversationRecord> {
  const requests: string[] = [];
  const asked =
    (step: ModelStep): ModelStep =>
    (request, context) => {
      requests.push(JSON.stringify(request));
      receive(request);
      context.emit?.({ type: 'text_delta', index: 0, text: 'Do' });
      return typeof step === 'function' ? step(request, context) : step;
    };
  const options = { receive, steps: script().map(asked), setup };
  const harness = createHarness({ ...optionsOf(options), sessionId: 'here' });
  const runs = [
    () => harness.prompt([{ type: 'text', text: 'Look.' }]),
    () => harness.prompt('And?'),
    () => harness.prompt('Once more.'),
  ];
  for (const start of runs) {
    const run = start();
    run.subscribe(receive);
    const result = await setup.until(run.result);
    receive(run.soFar);
    receive(result);
    for await (const event of run) receive(event);
  }
  const log: string[] = [];
  receive(await setup.healthy.read('here'));
  for await (const line of exportSession(setup.healthy, 'here')) log.push(line);
  return { requests, log };
}

/** The responses: calls, a call that is asked about, a compaction and a failure after a part of a response. */
function script(): ModelStep[] {
  const failing: ModelStep = () => {
    throw new AgentError({ kind: 'network', code: 'cut', message: 'The connection was cut.' });
  };
  return [
    calls([{ name: 'one', arguments: { list: ['a', { b: 1 }] } }]),
    modelResponse([
      { type: 'text', text: 'Done.' },
      { type: 'reasoning', text: 'So.' },
    ]),
    calls([
      { name: 'one', arguments: { list: [] } },
      { name: 'one', arguments: {} },
    ]),
    textResponse('Good.'),
    failing,
  ];
}

function optionsOf({
  receive,
  steps,
  setup,
}: {
  readonly receive: Receiver;
  readonly steps: readonly ModelStep[];
  readonly setup: RunFixture;
}): ExecutorOptions {
  const agent = scriptedModel(steps);
  const passing =
    <Result>(result: Result) =>
    (...given: readonly unknown[]): Result => {
      for (const each of given) receive(each);
      return result;
    };
  const tool = toolWith({
    parameters: { type: 'object', properties: { list: { type: 'array' } } },
    execute: passing(toolOutput({ content: 'long '.repeat(20), summary: 'Long.' })),
    preview: passing({ summary: 'It looks.' }),
    subject: () => 'x',
  });
  return {
    runtime: setup.runtime,
    store: passingStore(setup.store, receive),
    agent: { ...agent, run: (request, context) => agent.run(request, context) },
    tools: [tool],
    system: ['Be kind.', 'Be brief.'],
    request: { maxTokens: 500 },
    limits: { turns: 20 },
    gate: passing('allow' as const),
    pricing: passing({ input: 1, output: 2 }),
    context: {
      maxTokens: 150,
      compact: passing(undefined),
      offload: offload(memoryBlobs(), { overBytes: 40 }),
    },
  };
}

/** A store that keeps a copy of what it is given, and then passes it to the receiver. */
function passingStore(store: Store, receive: Receiver): Store {
  return {
    claim: (sessionId, origin) => store.claim(sessionId, origin),
    append: (sessionId, events, writer) => {
      const pending = store.append(sessionId, [...events], writer);
      receive(events);
      receive(writer);
      return pending;
    },
    read: (sessionId, afterSeq, limit) => store.read(sessionId, afterSeq, limit),
    sessions: () => store.sessions(),
    keepSnapshot: (_, state) => receive(state),
  };
}

/** Cases in which callers change everything that they are given. */
export const handedOutCases: readonly ExecutorCase[] = [
  the('what a run hands out cannot change what is stored or sent [P26]', async (setup, createSetup) => {
    const whole = await conversation(setup, () => {});
    const damaged = await conversation(createSetup(), damage);
    if (whole.requests.length < 5) throw new ContractFailure('The script was not played to its end.');
    expectEqual(damaged.requests, whole.requests, 'the requests');
    expectEqual(damaged.log, whole.log, 'the log');
  }),
];

import type { Runtime, SessionStore, Store } from '@cobbler/agent';
import { Budget, memoryStore, openSession, rules, toolOutput } from '@cobbler/agent';
import { firstOf, keepLast, memoryBlobs, offload, summarize } from '@cobbler/agent/context';
import { forkSession } from '@cobbler/agent/fork';
import { exportSession, importSession } from '@cobbler/agent/format';
import type { Harness, HarnessOptions } from '@cobbler/agent/harness';
import { createHarness } from '@cobbler/agent/harness';
import type { RunFixture } from '@cobbler/agent/testing';
import type { Place } from './place.ts';
import { place, runPrompt, toolCallingAgent, toolWith, untyped } from './place.ts';

type Fields<Options> = Readonly<Record<keyof Options, true>>;

/** The options of a harness that an executor does not have, and some of those that it passes on. */
const harnessFields: Fields<Pick<HarnessOptions, 'handler' | 'sessionId' | 'whenBusy' | 'report'>> = {
  ...{ handler: true, sessionId: true, whenBusy: true, report: true },
};

function harness(setup: RunFixture, options: object = {}): Harness {
  const { runtime, store } = setup;
  return createHarness({ runtime, store, agent: toolCallingAgent(), tools: [toolWith()], ...options });
}

async function prompted(setup: RunFixture, content: unknown, options?: unknown): Promise<unknown> {
  const conversation = harness(setup);
  const result = await conversation.prompt(untyped<string>(content), untyped<object>(options)).result;
  await conversation.close();
  return result;
}

async function forked(setup: RunFixture, fork: unknown, runtime: unknown = setup.runtime): Promise<void> {
  await runPrompt(setup, {}, 'Go.', { sessionId: 'here' });
  await forkSession(setup.store, untyped(fork), untyped<Runtime>(runtime));
}

/** A store in memory that `setup` checks at the end. */
function memory(setup: RunFixture): SessionStore {
  return untyped(setup.healthy);
}

const harnessPlaces: readonly Place[] = [
  place('createHarness: options', (_, options) => void createHarness(untyped(options)), 'options'),
  ...[...Object.keys(harnessFields), 'store', 'tools', 'limits', 'toolErrors'].map((field) =>
    place(`createHarness: options.${field}`, async (setup, value) => {
      const conversation = harness(setup, { [field]: value });
      return await conversation.prompt('Go.').result;
    }),
  ),
  ...['onUser', 'onText', 'onToolCall', 'onToolResult', 'onStatus', 'onUsage', 'onEvent'].map((method) =>
    place(`createHarness: options.handler.${method}`, async (setup, value) => {
      const conversation = harness(setup, { handler: { [method]: value } });
      return await conversation.prompt('Go.').result;
    }),
  ),
  place('harness.prompt: content', (setup, value) => prompted(setup, value), 'prompt'),
  place('harness.prompt: options', (setup, value) => prompted(setup, 'Go.', value)),
  ...['signal', 'runId'].map((field) =>
    place(`harness.prompt: options.${field}`, (setup, value) => prompted(setup, 'Go.', { [field]: value })),
  ),
  place(
    'harness.resume: options',
    (setup, value) => harness(setup).resume(untyped<object>(value)).result,
    '',
  ),
  ...['signal', 'runId', 'answers'].map((field) =>
    place(
      `harness.resume: options.${field}`,
      async (setup, value) => {
        const conversation = harness(setup);
        await conversation.prompt('Go.').result;
        return await conversation.resume(untyped<object>({ [field]: value })).result;
      },
      field,
    ),
  ),
  place('harness.steer: content', (setup, value) => void harness(setup).steer(untyped<string>(value))),
  ...[(value: unknown) => value, (upToSeq: unknown) => ({ upToSeq })].map((options, index) =>
    place(
      `harness.fork: ${index === 0 ? 'options' : 'options.upToSeq'}`,
      async (setup, value) => {
        const conversation = harness(setup);
        await conversation.prompt('Go.').result;
        const fork = await conversation.fork(untyped(options(value)));
        return await fork.prompt('And?').result;
      },
      ...(index === 0 ? ['options'] : ['upToSeq', 'event']),
    ),
  ),
];

const storedPlaces: readonly Place[] = [
  place('forkSession: store', (setup, store) =>
    forkSession(untyped<Store>(store), { from: 'here', to: 'there' }, setup.runtime),
  ),
  place('forkSession: fork', (setup, fork) => forked(setup, fork)),
  place('forkSession: fork.from', (setup, from) => forked(setup, { from, to: 'there' }), 'from', 'session'),
  place('forkSession: fork.to', (setup, to) => forked(setup, { from: 'here', to }), 'to', 'session id'),
  place(
    'forkSession: fork.upToSeq',
    (setup, upToSeq) => forked(setup, { from: 'here', to: 'there', upToSeq }),
    'upToSeq',
    'event',
  ),
  place('forkSession: runtime', (setup, runtime) => forked(setup, { from: 'here', to: 'there' }, runtime)),
  place('openSession: store', async (_, store) => void (await openSession(untyped<Store>(store), 'here'))),
  place(
    'openSession: sessionId',
    async (setup, id) => void (await openSession(setup.store, untyped<string>(id))),
  ),
  place(
    'importSession: store',
    async (_, store) => {
      await importSession(untyped<Store>(store), [], 'new');
    },
    'store',
    'no events',
  ),
  place(
    'importSession: lines',
    async (setup, lines) => void (await importSession(setup.healthy, untyped<string[]>(lines), 'new')),
    'lines',
    'Line',
    'no events',
  ),
  place(
    'importSession: lines[0]',
    async (setup, line) => void (await importSession(setup.healthy, [untyped<string>(line)], 'new')),
    'lines',
    'Line',
    'no events',
  ),
  place(
    'importSession: sessionId',
    async (setup, id) => void (await importSession(setup.healthy, [], untyped<string>(id))),
    'sessionId',
    'session id',
    'no events',
  ),
  place('exportSession: store', async (_, store) => {
    for await (const line of exportSession(untyped<Store>(store), 'here')) void line;
  }),
  place(
    'exportSession: sessionId',
    async (setup, id) => {
      for await (const line of exportSession(setup.healthy, untyped<string>(id))) void line;
    },
    'sessionId',
    'session',
  ),
];

const factoryPlaces: readonly Place[] = [
  place('rules: rules', (setup, given) => runPrompt(setup, { gate: rules(untyped(given)) }), 'rules'),
  ...['allow', 'deny', 'otherwise'].map((field) =>
    place(`rules: rules.${field}`, (setup, value) =>
      runPrompt(setup, { gate: rules(untyped({ [field]: value })) }),
    ),
  ),
  place(
    'rules: rules.allow[0]',
    (setup, value) => runPrompt(setup, { gate: rules({ allow: [untyped(value)] }) }),
    'allow',
    'rule',
  ),
  place('keepLast: count', (setup, count) =>
    runPrompt(setup, { context: { maxTokens: 1, compact: keepLast(untyped<number>(count)) } }),
  ),
  place(
    'summarize: by',
    (setup, by) =>
      runPrompt(setup, { context: { maxTokens: 1, compact: summarize(untyped(by), { keep: 1 }) } }),
    'by',
    '',
  ),
  place('summarize: options', (setup, options) =>
    runPrompt(setup, { context: { maxTokens: 1, compact: summarize(undefined, untyped<object>(options)) } }),
  ),
  ...['keep', 'maxTokens'].map((field) =>
    place(`summarize: options.${field}`, (setup, value) => {
      const compact = summarize(() => 'Short.', untyped<object>({ keep: 1, [field]: value }));
      return runPrompt(setup, { context: { maxTokens: 1, compact } });
    }),
  ),
  place(
    'firstOf: compactions[0]',
    (setup, value) =>
      runPrompt(setup, { context: { maxTokens: 1, compact: firstOf(untyped(value), () => undefined) } }),
    'compact',
  ),
  place('offload: blobs', (setup, blobs) => {
    const offloaded = offload(untyped(blobs), { overBytes: 1 });
    return runPrompt(setup, { context: { offload: offloaded } });
  }),
  place('offload: options', (setup, options) =>
    runPrompt(setup, { context: { offload: offload(memoryBlobs(), untyped<object>(options)) } }),
  ),
  ...['overBytes', 'excerptBytes'].map((field) =>
    place(`offload: options.${field}`, (setup, value) => {
      const offloaded = offload(memoryBlobs(), untyped<object>({ overBytes: 1, [field]: value }));
      return runPrompt(setup, { context: { offload: offloaded } });
    }),
  ),
  place('memoryBlobs: options', (_, options) => void memoryBlobs(untyped<object>(options))),
  place('memoryBlobs: options.maxBytes', (_, maxBytes) => void memoryBlobs(untyped<object>({ maxBytes }))),
  place('memoryStore: options', (setup, options) =>
    runPrompt(setup, { store: memoryStore(untyped<object>(options)) }),
  ),
  ...['now', 'keepLast'].map((field) =>
    place(
      `memoryStore: options.${field}`,
      (setup, value) => runPrompt(setup, { store: memoryStore(untyped<object>({ [field]: value })) }),
      field,
      'store',
    ),
  ),
  place('Budget: limits', (setup, limits) =>
    runPrompt(setup, {}, 'Go.', { budget: new Budget(untyped(limits)) }),
  ),
  ...['tokens', 'usd', 'turns', 'toolCalls'].map((field) =>
    place(
      `Budget: limits.${field}`,
      (setup, value) => runPrompt(setup, {}, 'Go.', { budget: new Budget(untyped({ [field]: value })) }),
      field,
      'price',
    ),
  ),
  place('toolOutput: output', (setup, value) => {
    const tools = [toolWith({ execute: () => toolOutput(untyped(value)) })];
    toolOutput(untyped(value));
    return runPrompt(setup, { tools });
  }),
];

/** Methods of a store, which a program can call itself. */
const storePlaces: readonly Place[] = [
  place('store.claim: sessionId', (setup, id) => memory(setup).claim(untyped(id)), 'sessionId', 'session id'),
  place('store.read: sessionId', (setup, id) => memory(setup).read(untyped(id))),
];

/** Harnesses, sessions, stores and the functions that create parts of the options. */
export const sessionPlaces: readonly Place[] = [
  ...harnessPlaces,
  ...storedPlaces,
  ...factoryPlaces,
  ...storePlaces,
];

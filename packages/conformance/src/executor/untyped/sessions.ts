import type { Runtime, SessionStore, Store } from '@cobbler/agent';
import { Budget, forkSession, memoryStore, openSession, rules, toolOutput } from '@cobbler/agent';
import { firstOf, keepLast, memoryBlobs, offload, summarize } from '@cobbler/agent/context';
import { exportSession, importSession } from '@cobbler/agent/format';
import type { Harness, HarnessOptions } from '@cobbler/agent/harness';
import { createHarness } from '@cobbler/agent/harness';
import type { RunFixture } from '@cobbler/agent/testing';
import type { Place } from './place.ts';
import { place, play, puppet, toolWith, untyped } from './place.ts';

type Fields<Options> = Readonly<Record<keyof Options, true>>;

/** The options of a harness that an executor does not have, and some of those that it passes on. */
const harnessFields: Fields<Pick<HarnessOptions, 'handler' | 'sessionId' | 'whenBusy' | 'report'>> = {
  ...{ handler: true, sessionId: true, whenBusy: true, report: true },
};

function harness(stage: RunFixture, options: object = {}): Harness {
  const { runtime, store } = stage;
  return createHarness({ runtime, store, agent: puppet(), tools: [toolWith()], ...options });
}

async function prompted(stage: RunFixture, content: unknown, options?: unknown): Promise<unknown> {
  const conversation = harness(stage);
  const result = await conversation.prompt(untyped<string>(content), untyped<object>(options)).result;
  await conversation.close();
  return result;
}

async function forked(stage: RunFixture, fork: unknown, runtime: unknown = stage.runtime): Promise<void> {
  await play(stage, {}, 'Go.', { sessionId: 'here' });
  await forkSession(stage.store, untyped(fork), untyped<Runtime>(runtime));
}

/** A store in memory that `stage` checks at the end. */
function memory(stage: RunFixture): SessionStore {
  return untyped(stage.healthy);
}

const harnessPlaces: readonly Place[] = [
  place('createHarness: options', (_, options) => void createHarness(untyped(options)), 'options'),
  ...[...Object.keys(harnessFields), 'store', 'tools', 'limits', 'toolErrors'].map((field) =>
    place(`createHarness: options.${field}`, async (stage, value) => {
      const conversation = harness(stage, { [field]: value });
      return await conversation.prompt('Go.').result;
    }),
  ),
  ...['onUser', 'onText', 'onToolCall', 'onToolResult', 'onStatus', 'onUsage', 'onEvent'].map((method) =>
    place(`createHarness: options.handler.${method}`, async (stage, value) => {
      const conversation = harness(stage, { handler: { [method]: value } });
      return await conversation.prompt('Go.').result;
    }),
  ),
  place('harness.prompt: content', (stage, value) => prompted(stage, value), 'prompt'),
  place('harness.prompt: options', (stage, value) => prompted(stage, 'Go.', value)),
  ...['signal', 'runId'].map((field) =>
    place(`harness.prompt: options.${field}`, (stage, value) => prompted(stage, 'Go.', { [field]: value })),
  ),
  place(
    'harness.resume: options',
    (stage, value) => harness(stage).resume(untyped<object>(value)).result,
    '',
  ),
  ...['signal', 'runId', 'answers'].map((field) =>
    place(
      `harness.resume: options.${field}`,
      async (stage, value) => {
        const conversation = harness(stage);
        await conversation.prompt('Go.').result;
        return await conversation.resume(untyped<object>({ [field]: value })).result;
      },
      field,
    ),
  ),
  place('harness.steer: content', (stage, value) => void harness(stage).steer(untyped<string>(value))),
  ...[(value: unknown) => value, (upToSeq: unknown) => ({ upToSeq })].map((options, index) =>
    place(
      `harness.fork: ${index === 0 ? 'options' : 'options.upToSeq'}`,
      async (stage, value) => {
        const conversation = harness(stage);
        await conversation.prompt('Go.').result;
        const fork = await conversation.fork(untyped(options(value)));
        return await fork.prompt('And?').result;
      },
      ...(index === 0 ? ['options'] : ['upToSeq', 'event']),
    ),
  ),
];

const storedPlaces: readonly Place[] = [
  place('forkSession: store', (stage, store) =>
    forkSession(untyped<Store>(store), { from: 'here', to: 'there' }, stage.runtime),
  ),
  place('forkSession: fork', (stage, fork) => forked(stage, fork)),
  place('forkSession: fork.from', (stage, from) => forked(stage, { from, to: 'there' }), 'from', 'session'),
  place('forkSession: fork.to', (stage, to) => forked(stage, { from: 'here', to }), 'to', 'session id'),
  place(
    'forkSession: fork.upToSeq',
    (stage, upToSeq) => forked(stage, { from: 'here', to: 'there', upToSeq }),
    'upToSeq',
    'event',
  ),
  place('forkSession: runtime', (stage, runtime) => forked(stage, { from: 'here', to: 'there' }, runtime)),
  place('openSession: store', async (_, store) => void (await openSession(untyped<Store>(store), 'here'))),
  place(
    'openSession: sessionId',
    async (stage, id) => void (await openSession(stage.store, untyped<string>(id))),
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
    async (stage, lines) => void (await importSession(stage.healthy, untyped<string[]>(lines), 'new')),
    'lines',
    'Line',
    'no events',
  ),
  place(
    'importSession: lines[0]',
    async (stage, line) => void (await importSession(stage.healthy, [untyped<string>(line)], 'new')),
    'lines',
    'Line',
    'no events',
  ),
  place(
    'importSession: sessionId',
    async (stage, id) => void (await importSession(stage.healthy, [], untyped<string>(id))),
    'sessionId',
    'session id',
    'no events',
  ),
  place('exportSession: store', async (_, store) => {
    for await (const line of exportSession(untyped<Store>(store), 'here')) void line;
  }),
  place(
    'exportSession: sessionId',
    async (stage, id) => {
      for await (const line of exportSession(stage.healthy, untyped<string>(id))) void line;
    },
    'sessionId',
    'session',
  ),
];

const factoryPlaces: readonly Place[] = [
  place('rules: rules', (stage, given) => play(stage, { gate: rules(untyped(given)) }), 'rules'),
  ...['allow', 'deny', 'otherwise'].map((field) =>
    place(`rules: rules.${field}`, (stage, value) =>
      play(stage, { gate: rules(untyped({ [field]: value })) }),
    ),
  ),
  place(
    'rules: rules.allow[0]',
    (stage, value) => play(stage, { gate: rules({ allow: [untyped(value)] }) }),
    'allow',
    'rule',
  ),
  place('keepLast: count', (stage, count) =>
    play(stage, { context: { maxTokens: 1, compact: keepLast(untyped<number>(count)) } }),
  ),
  place(
    'summarize: by',
    (stage, by) => play(stage, { context: { maxTokens: 1, compact: summarize(untyped(by), { keep: 1 }) } }),
    'by',
    '',
  ),
  place('summarize: options', (stage, options) =>
    play(stage, { context: { maxTokens: 1, compact: summarize(undefined, untyped<object>(options)) } }),
  ),
  ...['keep', 'maxTokens'].map((field) =>
    place(`summarize: options.${field}`, (stage, value) => {
      const compact = summarize(() => 'Short.', untyped<object>({ keep: 1, [field]: value }));
      return play(stage, { context: { maxTokens: 1, compact } });
    }),
  ),
  place(
    'firstOf: compactions[0]',
    (stage, value) =>
      play(stage, { context: { maxTokens: 1, compact: firstOf(untyped(value), () => undefined) } }),
    'compact',
  ),
  place('offload: blobs', (stage, blobs) => {
    const offloaded = offload(untyped(blobs), { overBytes: 1 });
    return play(stage, { context: { offload: offloaded } });
  }),
  place('offload: options', (stage, options) =>
    play(stage, { context: { offload: offload(memoryBlobs(), untyped<object>(options)) } }),
  ),
  ...['overBytes', 'excerptBytes'].map((field) =>
    place(`offload: options.${field}`, (stage, value) => {
      const offloaded = offload(memoryBlobs(), untyped<object>({ overBytes: 1, [field]: value }));
      return play(stage, { context: { offload: offloaded } });
    }),
  ),
  place('memoryBlobs: options', (_, options) => void memoryBlobs(untyped<object>(options))),
  place('memoryBlobs: options.maxBytes', (_, maxBytes) => void memoryBlobs(untyped<object>({ maxBytes }))),
  place('memoryStore: options', (stage, options) =>
    play(stage, { store: memoryStore(untyped<object>(options)) }),
  ),
  ...['now', 'keepLast'].map((field) =>
    place(
      `memoryStore: options.${field}`,
      (stage, value) => play(stage, { store: memoryStore(untyped<object>({ [field]: value })) }),
      field,
      'store',
    ),
  ),
  place('Budget: limits', (stage, limits) => play(stage, {}, 'Go.', { budget: new Budget(untyped(limits)) })),
  ...['tokens', 'usd', 'turns', 'toolCalls'].map((field) =>
    place(
      `Budget: limits.${field}`,
      (stage, value) => play(stage, {}, 'Go.', { budget: new Budget(untyped({ [field]: value })) }),
      field,
      'price',
    ),
  ),
  place('toolOutput: output', (stage, value) => {
    const tools = [toolWith({ execute: () => toolOutput(untyped(value)) })];
    toolOutput(untyped(value));
    return play(stage, { tools });
  }),
];

/** Methods of a store in memory, which a program can call itself. */
const storePlaces: readonly Place[] = [
  place(
    'store.claim: sessionId',
    (stage, id) => void memory(stage).claim(untyped(id)),
    'sessionId',
    'session id',
  ),
  place('store.read: sessionId', (stage, id) => void memory(stage).read(untyped(id))),
];

/** Harnesses, sessions, stores and the functions that create parts of the options. */
export const sessionPlaces: readonly Place[] = [
  ...harnessPlaces,
  ...storedPlaces,
  ...factoryPlaces,
  ...storePlaces,
];

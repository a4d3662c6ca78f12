import type { GateCall } from '@cobbler/agent';
import {
  addUsage,
  Budget,
  callsOf,
  costOf,
  fileKind,
  isStored,
  memoryStore,
  planMode,
  readOnly,
  rules,
  sniffMediaType,
  textOf,
} from '@cobbler/agent';
import { parseModel, resolveAgent } from '@cobbler/agent/config';
import { memoryBlobs } from '@cobbler/agent/context';
import type { AgentFactory } from '@cobbler/agent/provider';
import type { MemoryRunnerOptions } from '@cobbler/agent/runner';
import { memoryRunner } from '@cobbler/agent/runner';
import type { Writer } from '@cobbler/agent/store';
import type { RunFixture } from '@cobbler/agent/testing';
import type { Place } from './place.ts';
import { place, runPrompt, toolCallingAgent, toolWith, untyped } from './place.ts';

const budgetPlaces: readonly Place[] = [
  place('budget.take: count', (_, value) => void new Budget().take('turns', untyped(value))),
  place('budget.take: used', (_, value) => void new Budget().take('turns', 1)(untyped(value))),
  place('budget.reserve: reserved', (_, value) => void new Budget().reserve(untyped(value), 0)),
  place('budget.settle: used', (_, value) => void new Budget().reserve(1, 1).settle(untyped(value), 0)),
  place('budget.again: used', (_, value) => void new Budget().reserve(1, 1).again(0, untyped(value))),
  place(
    'the budget of a tool: used',
    (setup, value) => {
      const execute = (_: unknown, { budget }: { readonly budget: Budget }) => {
        budget.take('turns', untyped(value));
        return 'done';
      };
      return runPrompt(setup, { tools: [toolWith({ execute })] });
    },
    '',
  ),
];

const gatePlaces: readonly Place[] = [readOnly, planMode, rules({ allow: ['one(a*)'] })].map((gate, index) =>
  place(`gate ${index + 1}: call`, (_, call) => void gate(untyped<GateCall>(call))),
);

const factory: AgentFactory = () => toolCallingAgent();

const configPlaces: readonly Place[] = [
  place('resolveAgent: config', (_, config) => void resolveAgent(untyped(config), { claude: factory }, {})),
  place(
    'resolveAgent: config.provider',
    (_, provider) => void resolveAgent(untyped({ provider }), { claude: factory }, {}),
    'config',
    'provider',
  ),
  place(
    'resolveAgent: config.apiKey',
    (_, apiKey) => void resolveAgent(untyped({ apiKey }), { claude: factory }, {}),
    'config',
  ),
  place(
    'resolveAgent: factories',
    (_, factories) => void resolveAgent({}, untyped(factories), {}),
    'factories',
    'provider',
  ),
  place('resolveAgent: env', (_, env) => void resolveAgent({}, { claude: factory }, untyped(env)), 'config'),
  place(
    'resolveAgent: chosen',
    (_, chosen) => void resolveAgent({}, { claude: factory }, {}, untyped(chosen)),
    'config',
    'provider',
  ),
  place('parseModel: name', (_, name) => void parseModel(untyped(name), ['claude'])),
  place('parseModel: providers', (_, providers) => void parseModel('a:b', untyped(providers))),
];

const blobPlaces: readonly Place[] = [
  place('blobs.put: id', (_, id) => memoryBlobs().put(untyped(id), new Uint8Array(1)), 'blob id'),
  place('blobs.put: bytes', (_, bytes) => memoryBlobs().put('a', untyped(bytes))),
  place('blobs.get: range', async (_, range) => {
    const blobs = memoryBlobs();
    await blobs.put('a', new Uint8Array(3));
    await blobs.get('a', untyped(range));
  }),
];

/** Appends to a store in memory as an untyped caller. */
async function append(setup: RunFixture, events: unknown, writer?: unknown): Promise<void> {
  const store = memoryStore();
  const epoch = await store.claim('here');
  await runPrompt(setup);
  await store.append('here', untyped(events), untyped<Writer>(writer ?? { epoch }));
}

const storePlaces: readonly Place[] = [
  place('store.append: events', (setup, events) => append(setup, events), 'events', 'sequence number'),
  place('store.append: events[0]', (setup, event) => append(setup, [event]), 'events', 'sequence number'),
  place('store.append: writer', (setup, writer) => append(setup, [], writer), 'writer', 'taken over'),
  place('store.list: options', async (_, options) => void (await memoryStore().list(untyped(options)))),
  ...['limit', 'after'].map((field) =>
    place(
      `store.list: options.${field}`,
      async (_, value) => void (await memoryStore().list(untyped({ [field]: value }))),
      'options',
      'cursor',
    ),
  ),
  place(
    'store.prune: retention',
    async (_, retention) => void (await memoryStore().prune(untyped(retention))),
    'retention',
    'Specify how much to keep',
  ),
  place('store.info: sessionId', async (_, id) => void (await memoryStore().info(untyped(id)))),
  place('store.delete: sessionId', async (_, id) => void (await memoryStore().delete(untyped(id)))),
];

type Options = MemoryRunnerOptions<null, null>;

function runner(): ReturnType<typeof memoryRunner> {
  return memoryRunner({ workflow: async () => null });
}

const runnerPlaces: readonly Place[] = [
  place('memoryRunner: options', (_, options) => void memoryRunner(untyped<Options>(options))),
  ...['workflow', 'runtime', 'retention', 'maxOpen'].map((field) =>
    place(
      `memoryRunner: options.${field}`,
      (_, value) => void memoryRunner(untyped<Options>({ workflow: async () => null, [field]: value })),
    ),
  ),
  place(
    'runner.start: input',
    async (_, input) => void (await runner().start(untyped(input), { runId: 'a' })),
  ),
  place(
    'runner.start: options',
    async (_, options) => void (await runner().start(null, untyped(options))),
    'options',
    'run id',
  ),
  ...['runId', 'key', 'whenBusy', 'dueAt'].map((field) =>
    place(
      `runner.start: options.${field}`,
      async (_, value) => void (await runner().start(null, untyped({ runId: 'a', [field]: value }))),
      field,
      'run id',
      'due time',
    ),
  ),
  place(
    'runner.signal: value',
    async (_, value) => void (await runner().signal('a', 'b', untyped(value))),
    'signal',
  ),
  place('runner.cancel: runId', async (_, runId) => void (await runner().cancel(untyped(runId)))),
  place('runner.status: runId', async (_, runId) => void (await runner().status(untyped(runId)))),
];

const usage = { inputTokens: 1, outputTokens: 1 };
const price = { input: 1, output: 1 };

/** The functions that only compute something. */
const helperPlaces: readonly Place[] = [
  place('addUsage: left', (_, left) => void addUsage(untyped(left), usage)),
  place('addUsage: right', (_, right) => void addUsage(usage, untyped(right))),
  ...Object.keys(usage).map((field) =>
    place(
      `addUsage: left.${field}`,
      (_, value) => void addUsage(untyped({ ...usage, [field]: value }), usage),
    ),
  ),
  place('costOf: usage', (_, value) => void costOf(untyped(value), price)),
  place('costOf: price', (_, value) => void costOf(usage, untyped(value))),
  ...Object.keys(price).map((field) =>
    place(`costOf: price.${field}`, (_, value) => void costOf(usage, untyped({ ...price, [field]: value }))),
  ),
  place('fileKind: mediaType', (_, value) => void fileKind(untyped(value))),
  place('sniffMediaType: bytes', (_, value) => void sniffMediaType(untyped(value))),
  place('isStored: event', (_, value) => void isStored(untyped(value))),
  ...[textOf, callsOf].flatMap((work) => [
    place(`${work.name}: message`, (_, value) => void work(untyped(value))),
    place(`${work.name}: message.content`, (_, content) => void work(untyped({ content }))),
    place(
      `${work.name}: message.content[0]`,
      (_, part) => void work(untyped({ content: [part] })),
      'content',
    ),
    place(
      `${work.name}: message.content[0].text`,
      (_, text) => void work(untyped({ content: [{ type: 'text', text }] })),
      'content',
    ),
  ]),
];

/** Budgets, gates, blobs, stores, runners, and the functions that choose an agent or compute something. */
export const partPlaces: readonly Place[] = [
  ...budgetPlaces,
  ...gatePlaces,
  ...configPlaces,
  ...blobPlaces,
  ...storePlaces,
  ...runnerPlaces,
  ...helperPlaces,
];

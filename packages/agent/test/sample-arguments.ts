import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryBlobs } from '../src/context/index.ts';
import { emptyItems, emptyState } from '../src/events/index.ts';
import { Executor, memoryStore, systemRuntime } from '../src/index.ts';
import { sqliteStore } from '../src/node/index.ts';
import { memoryRunner } from '../src/runner/index.ts';
import { emptyStats } from '../src/store/index.ts';
import { fakeRuntime, probeTools, scriptedModel, scriptWire, textResponse } from '../src/testing/index.ts';
import { eventsOf, wholeRun } from '../src/testing/stored-events.ts';

const folder = mkdtempSync(join(tmpdir(), 'sample-arguments-'));
process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
let files = 0;

/** Returns the path of a new file, which does not exist yet. */
function newFile(): string {
  files += 1;
  return join(folder, `file-${files}`);
}

function newDatabase(): string {
  const file = newFile();
  void sqliteStore(file).close();
  return file;
}

const usage = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2 };
const price = { input: 3, output: 15 };
const text = { type: 'text', text: 'Hello.' };
const user = { role: 'user', content: [text] };
const call = { type: 'tool_call', id: 'call-1', toolName: 'look', arguments: { path: 'a' } };
const assistant = { role: 'assistant', content: [call] };
const result = { role: 'tool_result', toolCallId: 'call-1', content: [text] };
const messages = [user, assistant, result];
const gateCall = { id: 'call-1', toolName: 'look', arguments: {}, effect: 'read', subject: 'a' };
const gateContext = () => ({ signal: new AbortController().signal, session: 'session-1' });
const schema = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
const tool = { name: 'look', description: 'Looks.', parameters: schema, execute: () => 'Seen.' };
const flatTool = { name: 'look', description: 'Looks.', inputSchema: schema, execute: async () => 'Seen.' };
const events = eventsOf('session-1', wholeRun());
const [event] = events;
const error = { kind: 'invalid', code: 'bad', message: 'It is bad.' };
const agent = () => scriptedModel([textResponse('Done.'), textResponse('Done.')]);
const executor = () => new Executor({ agent: agent(), tools: [probeTools().tool('look')] });
const workflow = async () => 'Done.';
const signal = () => new AbortController().signal;
const retention = { maxAgeMs: 1_000, maxRuns: 10 };
const shown = {
  toolName: 'look',
  arguments: { path: 'a' },
  diff: '+a',
  summary: 'Looks.',
  mustAsk: 'It asks.',
};

/** Returns a store with one session. */
function filledStore(): ReturnType<typeof memoryStore> {
  const store = memoryStore();
  void store.claim('session-1');
  void store.append('session-1', events, { epoch: 1 });
  return store;
}

const run = () => executor().run('Go.');

const samples: Readonly<Record<string, () => readonly unknown[]>> = {
  'new AgentError': () => [{ ...error, retryable: true, retryAfterMs: 5, status: 400, attempts: 1 }],
  'AgentError.is': () => [error],
  'AgentError.from': () => [new Error('It failed.'), 'agent', 'bad'],
  'new Budget': () => [{ tokens: 10, usd: 1, turns: 5, toolCalls: 5 }],
  'new Budget().left': () => ['turns'],
  'new Budget().take': () => ['turns', 1],
  'new Budget().reserve': () => [1, 1],
  'new Executor': () => [{ agent: agent(), tools: [tool], limits: { turns: 5 } }],
  'new Executor().run': () => ['Go.', { sessionId: 'session-1', runId: 'run-1' }],
  'new Executor().run().steer': () => ['Stop.'],
  'new Executor().run().decide': () => ['approval-1', { decision: 'allow', message: 'Yes.' }],
  'new Executor().run().subscribe': () => [() => {}],
  'new Executor().run().then': () => [() => 1, () => 2],
  'new Executor().resume': () => ['session-1', { runId: 'run-1' }],
  'new Executor().advance': () => [{ sessionId: 'session-1', runId: 'run-1', prompt: 'Go.' }],
  'new Executor().asTool': () => [{ name: 'sub', description: 'Asks.', effect: 'read' }],
  addUsage: () => [usage, usage],
  callsOf: () => [assistant],
  costOf: () => [usage, price],
  defineTool: () => [tool],
  fileKind: () => ['image/png'],
  isStored: () => [event],
  memoryStore: () => [{ maxBytes: 1_000_000, keepBytes: 10_000, now: () => 1 }],
  'memoryStore().claim': () => ['session-1', { parent: { sessionId: 'session-0', seq: 1 } }],
  'memoryStore().append': () => ['session-1', events, { epoch: 1 }],
  'memoryStore().read': () => ['session-1', 0, 10],
  'memoryStore().snapshot': () => ['session-1'],
  'memoryStore().keepSnapshot': () => ['session-1', emptyState(), { epoch: 1 }],
  'memoryStore().list': () => [{ limit: 10 }],
  'memoryStore().info': () => ['session-1'],
  'memoryStore().rename': () => ['session-1', 'A title'],
  'memoryStore().delete': () => ['session-1'],
  'memoryStore().prune': () => [{ olderThanMs: 10, keepLast: 10 }],
  openSession: () => [filledStore(), 'session-1'],
  planMode: () => [gateCall, gateContext()],
  readOnly: () => [gateCall, gateContext()],
  rules: () => [{ allow: ['look'], deny: ['rm'], otherwise: 'ask' }],
  'rules()': () => [gateCall, gateContext()],
  sniffMediaType: () => [new Uint8Array([1, 2, 3])],
  'systemRuntime.timer': () => [1, () => {}],
  'systemRuntime.digest': () => ['text'],
  textOf: () => [user],
  toolOutput: () => [{ content: 'Seen.', isError: false, summary: 'One.' }],
  userMessage: () => ['Hello.'],

  checkSchema: () => [schema, { a: 'b' }],
  cleanKey: () => [' key '],
  createAgent: () => [
    scriptWire({ baseURL: 'http://model.test', apiKey: 'key' }),
    { model: 'model-1', capabilities: agent().capabilities, runtime: fakeRuntime() },
  ],
  'createAgent().run': () => [{ messages, tools: [], system: 'Be brief.' }, { signal: AbortSignal.abort() }],
  fetchTransport: () => [async () => new Response('')],
  'fetchTransport()': () => [{ url: 'http://model.test', headers: {}, body: [], signal: signal() }],
  fileText: () => [{ data: 'YQ==' }],
  fromFlat: () => [[{ role: 'user', content: 'Hello.' }]],
  fromFlatTool: () => [flatTool],
  hasMediaType: () => [['image/*'], 'image/png'],
  isObject: () => [{}],
  normalizeHistory: () => [messages, { provider: 'scripted', files: ['image/*'] }],
  oneOf: () => ['a', 'b'],
  'oneOf()': () => ['a'],
  platformTransport: () => [fakeRuntime()],
  read: () => [1, (value: unknown) => value, 'options', 'bad_option'],
  record: () => [{ a: (value: unknown) => value }, ['a'], 'an object'],
  'record()': () => [{ a: 1 }],
  retryAfterOf: () => [() => '1', () => 1],
  schemaProblem: () => [schema],
  toFlat: () => [messages],

  'HeldDirectory.open': () => [folder, 'path'],
  'HeldDirectory.open().directory': () => ['.'],
  'new OutputCapture': () => [100],
  'new OutputCapture().push': () => [new Uint8Array([1])],
  'new Workspace': () => [folder, { anchor: 'path', env: {} }],
  'new Workspace().write': () => ['a', 'text', {}],
  childEnvironment: () => [{ PATH: '/bin' }, { A: 'b' }],
  cobblerHome: () => [{ HOME: folder }],
  copyDatabase: () => [newDatabase(), newFile()],
  fileBlobs: () => [newFile(), { maxBytes: 1_000, maxAgeMs: 1_000 }],
  'fileBlobs().put': () => ['a'.repeat(64), new Uint8Array([1])],
  'fileBlobs().get': () => ['a'.repeat(64), { start: 0, end: 1 }],
  fileError: () => [new Error('no'), 'a'],
  isBusy: () => [new Error('no')],
  isDatabase: () => [newFile()],
  isMcpName: () => ['name'],
  loadConfig: () => [{ home: folder, env: {} }],
  openDatabase: () => [newFile(), { maxBytes: 1_000_000, onWrite: () => {} }],
  parseConfig: () => ['model: a', 'config.yaml'],
  quotePath: () => ['a b'],
  reapOrphans: () => [folder, systemRuntime],
  recordProcesses: () => [newFile()],
  salvageStore: () => [newDatabase(), newFile()],
  sqliteStore: () => [newFile(), { maxBytes: 1_000_000, busyMs: 10, now: () => 1, onWrite: () => {} }],
  'sqliteStore().claim': () => ['session-1', { parent: { sessionId: 'session-0', seq: 1 } }],
  'sqliteStore().append': () => ['session-1', events, { epoch: 1 }],
  'sqliteStore().read': () => ['session-1', 0, 10],
  'sqliteStore().keepSnapshot': () => ['session-1', emptyState(), { epoch: 1 }],
  'sqliteStore().list': () => [{ limit: 10 }],
  'sqliteStore().rename': () => ['session-1', 'A title'],
  'sqliteStore().prune': () => [{ olderThanMs: 10, keepLast: 10 }],
  storeError: () => [new Error('no'), 'file', 'sessions'],
  superviseProcess: () => [{ argv: ['true'], cwd: folder, env: {} }],
  verifyStore: () => [newDatabase()],
  openRuns: () => [newFile()],
  sqliteRunner: () => [
    { file: newFile(), workflow, runtime: fakeRuntime(), retention, busyMs: 10, lookMs: 10 },
  ],
  'sqliteRunner().start': () => ['input', { runId: 'run-1', key: 'key', whenBusy: 'queue', dueAt: 1 }],
  'sqliteRunner().signal': () => ['run-1', 'name', 'value'],
  'sqliteRunner().cancel': () => ['run-1'],
  'sqliteRunner().status': () => ['run-1'],
  'sqliteRunner().result': () => ['run-1', { signal: signal() }],

  forkSession: () => [filledStore(), { from: 'session-1', to: 'session-2', upToSeq: 1 }, fakeRuntime()],
  'new TranscriptBuilder': () => [{ joins: true, files: ['image/*'], refuses: () => undefined }],
  'new TranscriptBuilder().user': () => ['[0]', [text]],
  'new TranscriptBuilder().assistant': () => ['[0]', [text]],
  'new TranscriptBuilder().result': () => ['[0]', { content: [text], toolCallId: 'call-1' }],
  'new TranscriptBuilder().problem': () => ['[0]', 'It is odd.'],
  'new TranscriptBuilder().loss': () => ['[0]', 'It is lost.'],
  repairTranscript: () => [{ messages, places: ['[0]', '[1]', '[2]'], problems: [], losses: [] }],
  writeTurns: () => [messages, 'scripted', () => []],

  player: () => ['', { secrets: ['secret'], runtime: fakeRuntime(), patienceMs: 10 }],
  recorder: () => [{ write: () => {}, secrets: ['secret'], runtime: fakeRuntime() }],
  'recorder().tools': () => [[tool]],
  'recorder().gate': () => [() => 'allow'],
  'recorder().store': () => [memoryStore()],
  'recorder().pricing': () => [() => price],
  'recorder().blobs': () => [memoryBlobs()],
  'recorder().wire': () => [scriptWire({ baseURL: 'http://model.test', apiKey: 'key' })],
  'recorder().control': () => [run()],
  'recorder().fact': () => ['name', () => 1],
  'recorder().moment': () => ['name'],
  connectHarness: () => [
    { url: 'http://127.0.0.1:9', token: 'token', sessionId: 'session-1', runtime: fakeRuntime() },
  ],
  'connectHarness().prompt': () => ['Go.', { signal: AbortSignal.abort() }],
  'connectHarness().resume': () => [{ signal: AbortSignal.abort() }],
  'connectHarness().steer': () => ['Stop.'],
  'connectHarness().fork': () => [{ upToSeq: 1 }],

  addUsd: () => [1, 2],
  approvalText: () => [shown],
  argumentLines: () => [shown, ['path']],
  callStatus: () => [{ turn: 1, index: 0, part: call }],
  currentParts: () => [[text]],
  fold: () => [emptyState(), event],
  foldItems: () => [emptyItems(), event],
  ignore: () => [event],
  itemsOf: () => [events],
  joinedResponse: () => [true],
  pendingCalls: () => [emptyItems()],
  repairMessages: () => [messages],
  spendingOf: () => [event],
  visibleText: () => ['text'],

  addToStats: () => [emptyStats(), event],
  badCursor: () => ['cursor'],
  checkRetention: () => [{ olderThanMs: 10, keepLast: 10 }],
  checkSessionId: () => ['session-1'],
  cursorOf: () => [{ updated: 1, key: 1 }],
  invalidPosition: () => [events, 0],
  isSessionId: () => ['session-1'],
  pageSize: () => [{ limit: 10 }],
  parseCursor: () => ['1-1'],
  sequenceGap: () => ['session-1', 1],
  sessionInUse: () => ['session-1', { pid: 1, host: 'a', since: 1 }],
  sessionInfo: () => [
    { id: 'session-1', title: null, created: 1, updated: 1, parent: undefined },
    emptyStats(),
    'running',
  ],
  snapshotState: () => ['{}', []],
  snapshotText: () => [emptyState()],
  titleOf: () => ['words'],
  writerReplaced: () => ['session-1'],

  askForVerdict: () => [() => 'allow', signal()],
  createHarness: () => [{ agent: agent(), sessionId: 'session-1', whenBusy: 'queue', handler: {} }],
  'createHarness().prompt': () => ['Go.', { runId: 'run-1' }],
  'createHarness().resume': () => [{ runId: 'run-1' }],
  'createHarness().steer': () => ['Stop.'],
  'createHarness().fork': () => [{ upToSeq: 1 }],
  readVerdict: () => ['allow'],
  firstOf: () => [() => undefined, () => undefined],
  'firstOf()': () => [messages, {}],
  keepLast: () => [2],
  'keepLast()': () => [messages, {}],
  memoryBlobs: () => [{ maxBytes: 1_000 }],
  'memoryBlobs().put': () => ['a'.repeat(64), new Uint8Array([1])],
  'memoryBlobs().get': () => ['a'.repeat(64), { start: 0, end: 1 }],
  offload: () => [memoryBlobs(), { overBytes: 10_000, excerptBytes: 1_000 }],
  summarize: () => [agent(), { keep: 2, maxTokens: 100 }],
  parseModel: () => ['claude:model-1', ['claude']],
  resolveAgent: () => [{ model: 'script:model-1' }, { script: agent }, {}, { maxTokens: 10 }],

  'new InboxRunner': () => [{ inbox: {}, workflow, runtime: fakeRuntime() }],
  approvalSignal: () => ['approval-1'],
  attemptStep: () => [
    {
      runtime: fakeRuntime(),
      runId: 'run-1',
      name: 'step',
      perform: () => 1,
      settings: {},
      signal: signal(),
    },
  ],
  callWorkflow: () => [
    {
      ...{ workflow, runId: 'run-1', input: '"in"', runtime: fakeRuntime(), signal: signal() },
      signalled: () => undefined,
    },
  ],
  checkDueAt: () => [1, 'run-1'],
  checkRunId: () => ['run-1'],
  fencedRun: () => ['run-1'],
  filledRetention: () => [retention],
  ignoreRejection: () => [Promise.resolve(1)],
  memoryRunner: () => [{ workflow, runtime: fakeRuntime(), retention, maxOpen: 10 }],
  'memoryRunner().start': () => ['input', { runId: 'run-1', key: 'key', whenBusy: 'queue', dueAt: 1 }],
  'memoryRunner().signal': () => ['run-1', 'name', 'value'],
  'memoryRunner().cancel': () => ['run-1'],
  'memoryRunner().status': () => ['run-1'],
  'memoryRunner().result': () => ['run-1', { signal: signal() }],
  pause: () => [fakeRuntime(), 0, AbortSignal.abort()],
  runBusy: () => ['run-1', 'key'],
  runCancelled: () => ['run-1'],
  runEnded: () => ['run-1'],
  runInSteps: () => [
    { runId: 'run-1', signal: signal(), run: (_: string, perform: () => unknown) => perform() },
    { executor: executor(), store: memoryStore(), sessionId: 'session-1', prompt: 'Go.' },
  ],
  runNotFound: () => ['run-1'],
  runnerClosed: () => ['invalid'],
  sessionWorkflow: () => [{ store: memoryStore(), executor, settings: {} }],
  toSerializableError: () => [new Error('no')],
  waitAborted: () => ['run-1', new Error('no')],
  waitSignal: () => [1],
  runnerHarness: () => [
    {
      runner: memoryRunner({ workflow }),
      store: memoryStore(),
      executor: executor(),
      sessionId: 'session-1',
    },
  ],
  'runnerHarness().prompt': () => ['Go.', { runId: 'run-1' }],
  'runnerHarness().steer': () => ['Stop.'],
  'runnerHarness().fork': () => [{ upToSeq: 1 }],

  backoff: () => [{ baseMs: 1, maxMs: 10 }, 1, 1],
  defined: () => [{ a: 1, b: undefined }],
  isErrorKind: () => ['invalid'],
  isoTime: () => [1],
  plainJson: () => [{ a: 1 }, 'the value'],
  serviceCode: () => ['invalid', 404],
  timeOf: () => ['2026-01-01T00:00:00.000Z'],
  exportSession: () => [filledStore(), 'session-1'],
  importSession: () => [memoryStore(), events.map((one) => JSON.stringify(one)), 'session-1'],
  repairLog: () => [events],
};

const exceptions: Readonly<Record<string, string>> = {
  assertNever: 'its only argument is of a type that has no values, and it always throws',
};

/** Valid arguments of every public function; tests/public-functions.test.ts replaces each by odd values. */
export const sampleTable: {
  readonly samples: typeof samples;
  readonly exceptions: typeof exceptions;
} = { samples, exceptions };

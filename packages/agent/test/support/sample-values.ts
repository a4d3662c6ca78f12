import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { recorder } from '../../src/cassette/index.ts';
import type { Agent, Event, GateContext, Price, Run, SessionStore } from '../../src/index.ts';
import { Executor, memoryStore } from '../../src/index.ts';
import { sqliteStore } from '../../src/node/index.ts';
import type { Transport } from '../../src/provider/index.ts';
import type { Inbox, Runner, Steps } from '../../src/runner/index.ts';
import { memoryRunner, sessionWorkflow } from '../../src/runner/index.ts';
import {
  fakeRuntime,
  handlerTransport,
  probeTools,
  replies,
  scriptedModel,
  scriptResponse,
  scriptTesting,
  textResponse,
  wireServer,
} from '../../src/testing/index.ts';
import { eventsOf, wholeRun } from '../../src/testing/stored-events.ts';

export type Sample = (owner: never) => readonly unknown[] | Promise<readonly unknown[]>;

export const folder: string = mkdtempSync(join(tmpdir(), 'sample-arguments-'));
let files = 0;

/** Options of the smallest database. */
export const openOptions: object = {
  maxBytes: 1_000_000,
  onWrite: () => {},
  migrations: ['CREATE TABLE counters (name TEXT, value INTEGER)', () => {}],
  kind: { applicationId: 1, contents: 'samples' },
};

/** Returns the path of a new file, which does not exist yet. */
export function newFile(): string {
  files += 1;
  return join(folder, `file-${files}`);
}

export function newDatabase(): string {
  const file = newFile();
  void sqliteStore(file).close();
  return file;
}

export const usage: object = { inputTokens: 10, outputTokens: 5, cacheReadTokens: 2 };
export const price: Price = { input: 3, output: 15 };
export const text: object = { type: 'text', text: 'Hello.' };
export const user: object = { role: 'user', content: [text] };
export const call: object = { type: 'tool_call', id: 'call-1', toolName: 'look', arguments: { path: 'a' } };
export const assistant: object = { role: 'assistant', content: [call] };
const result = { role: 'tool_result', toolCallId: 'call-1', content: [text] };
export const messages: readonly object[] = [user, assistant, result];
export const gateCall: object = {
  id: 'call-1',
  toolName: 'look',
  arguments: {},
  effect: 'read',
  subject: 'a',
};
export const gateContext: () => GateContext = () => ({
  signal: new AbortController().signal,
  session: 'session-1',
});
export const schema: object = { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] };
export const tool: object = {
  name: 'look',
  description: 'Looks.',
  parameters: schema,
  execute: () => 'Seen.',
};
export const flatTool: object = {
  name: 'look',
  description: 'Looks.',
  inputSchema: schema,
  execute: async () => 'Seen.',
};
export const events: readonly Event[] = eventsOf('session-1', wholeRun());
export const event: Event | undefined = events[0];
export const error: object = { kind: 'invalid', code: 'bad', message: 'It is bad.' };
export const agent: () => Agent = () => scriptedModel([textResponse('Done.'), textResponse('Done.')]);
export const executor: () => Executor = () =>
  new Executor({ agent: agent(), tools: [probeTools().tool('look')] });
export const workflow: () => Promise<string> = async () => 'Done.';
export const signal: () => AbortSignal = () => new AbortController().signal;
export const retention: object = { maxAgeMs: 1_000, maxRuns: 10 };
export const shown: object = {
  toolName: 'look',
  arguments: { path: 'a' },
  diff: '+a',
  summary: 'Looks.',
  mustAsk: 'It asks.',
};

/** Returns a store with one session. */
export function filledStore(): ReturnType<typeof memoryStore> {
  const store = memoryStore();
  void store.claim('session-1');
  void store.append('session-1', events, { epoch: 1 });
  return store;
}

let sessions = 0;

/** Returns the arguments of an append to a new session. */
export async function newAppend(store: SessionStore): Promise<readonly unknown[]> {
  sessions += 1;
  const id = `append-${sessions}`;
  return [id, events, { epoch: await store.claim(id), durable: true, release: true }];
}

/** Returns the arguments that read a session with events. */
export async function newRead(store: SessionStore): Promise<readonly unknown[]> {
  const [id, ...rest] = await newAppend(store);
  await store.append(id as string, ...(rest as [typeof events, { epoch: number }]));
  return [id, 0, 10];
}

/** Returns the text of a cassette that recorded nothing. */
export function cassette(): string {
  const lines: string[] = [];
  recorder({ write: (line) => lines.push(line), runtime: fakeRuntime() });
  return lines.join('\n');
}

/** Returns an inbox without runs. */
export function inbox(): Inbox {
  const none = async () => undefined;
  return {
    ...{ durable: false, hasNews: async () => false, close: none, release: none, standing: none },
    ...{ claimDue: async () => [], signal: async () => false, signalled: none, giveUp: async () => null },
    put: async () => ({ result: 'exists' }),
    ack: async () => ({ isOver: true }),
    cancel: async () => ({ isOver: false }),
  };
}

export function runnerHarnessOptions(): object {
  const store = filledStore();
  const own = new Executor({ agent: agent(), store });
  const runner = memoryRunner({ workflow: sessionWorkflow({ store, executor: () => own }) });
  return { runner, store, executor: own, sessionId: 'session-1' };
}

export function steppedTask(): object {
  const store = memoryStore();
  return { executor: new Executor({ agent: agent(), store }), store, sessionId: 'session-1', prompt: 'Go.' };
}

/** Returns the steps of a run that does not end. */
export function steps(): Promise<Steps> {
  return new Promise((resolve) => {
    const runner = memoryRunner({
      workflow: (_, given) => {
        void runner.signal('run-1', 'name', 'value').then(() => resolve(given));
        return new Promise<string>(() => {});
      },
    });
    void runner.start('input', { runId: 'run-1' });
  });
}

let ids = 0;

export function newId(name: string): string {
  ids += 1;
  return `${name}-${ids}`;
}

let runs = 0;

/** Returns the arguments of `result` for a run that has ended. */
export async function endedRun(runner: Runner): Promise<readonly unknown[]> {
  runs += 1;
  await runner.start('input', { runId: `result-${runs}` });
  return [`result-${runs}`, { signal: signal() }];
}

export const reader: (value: unknown) => unknown = (value: unknown) => value;
export const transport: () => Transport = () =>
  handlerTransport(wireServer(scriptTesting, () => replies(scriptResponse(['Done.']))).handler);

export const run: () => Run = () => executor().run('Go.');

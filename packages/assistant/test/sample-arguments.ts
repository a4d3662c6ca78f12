import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AgentError } from '@cobbler/agent';
import { memoryRunner } from '@cobbler/agent/runner';
import { fakeRuntime, scriptedModel, textResponse } from '@cobbler/agent/testing';
import type { Sql } from '../src/index.ts';
import { lexicalEmbedder, memoryChannel, sqlChats, sqlEvents, sqlMessages, sqlOutbox } from '../src/index.ts';
import { sqliteMemory, sqliteSql } from '../src/sqlite/index.ts';
import { telegramApi } from '../src/telegram/index.ts';
import { fakeTelegram } from '../src/testing/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'sample-arguments-'));
let files = 0;

function newFile(): string {
  files += 1;
  return join(folder, `file-${files}`);
}

/** Instances of these are used by many samples; a class instance, so that the functions in it are not replaced. */
const shared = <Value extends object>(value: Value): Value => Object.create(value);

const sql: Sql = shared(sqliteSql({ file: newFile() }));
const memory = shared(sqliteMemory({ sql, embedder: lexicalEmbedder() }));
const agent = () => shared(scriptedModel([textResponse('NOTHING')]));
const workflow = async () => 'Done.';
const runner = memoryRunner({ workflow });
const time = '2026-01-01T00:00:00.000Z';
const message = { id: 'message-1', chatId: 'chat-1', role: 'user', content: 'Hello.', createdAt: time };
const part = { text: 'Hello.', markup: '<b>Hello.</b>' };
const signal = () => new AbortController().signal;
const event = { type: 'notice', seq: 1 };
const token = '12345:secret';
const telegram = fakeTelegram({ token });
const api = () =>
  shared(telegramApi({ token, runtime: shared({ ...fakeRuntime(), fetch: telegram.fetch }) }));
const webhook = { url: 'https://bot.test/hook', secret: 'secret', maxConnections: 2, dropPending: false };
const embedder = { name: 'ones', dimensions: 2, floor: 0.5 };
const binding = shared({
  create: async () => ({}),
  get: async () => ({ status: async () => ({ status: 'complete' }) }),
});
const step = shared({ do: async () => ({ over: true }), waitForEvent: async () => {} });
const place = { name: 'one', begin: async () => ({}) };
const ada = { id: 7, name: 'Ada', username: 'ada', language: 'en', isBot: false };
const vectorize = shared({
  upsert: async () => {},
  query: async () => ({ matches: [] }),
  getByIds: async () => [],
  deleteByIds: async () => {},
});
async function* body() {
  yield new TextEncoder().encode('{}');
}

const samples: Readonly<Record<string, () => readonly unknown[] | Promise<readonly unknown[]>>> = {
  auditOf: () => [
    shared(sqlEvents(sql)),
    { chatId: 'chat-1', since: 1, pricing: () => undefined, tools: [{ name: 'look', effect: 'read' }] },
  ],
  createAssistant: () => [
    {
      ...{ agent: agent(), channel: shared(memoryChannel()), messages: shared(sqlMessages(sql)) },
      ...{ chats: shared(sqlChats(sql)), outbox: shared(sqlOutbox(sql)), turns: shared(sqlEvents(sql)) },
      ...{ runner: () => runner, memory, tools: [], gate: () => 'allow', persona: 'Kind.', timeZone: 'UTC' },
      ...{ toolCalls: 5, approvalMs: 1_000, rateLimit: { count: 1, perMs: 1 }, report: () => {} },
      remember: { threshold: { messages: 1, tokens: 1 }, keep: 1 },
    },
  ],
  'createAssistant().receive': () => [
    {
      ...{ type: 'text', id: '1', chatId: 'chat-1', userId: 'user-1', sentAt: 1, text: 'Hello.' },
      ...{ message: '1', repliesTo: '1', language: 'en' },
    },
  ],
  embedderFrom: () => [{ ...embedder, maxAtOnce: 2, embed: async () => [[1, 1]] }],
  'embedderFrom().embed': () => [['a'], 'query', { signal: signal() }],
  httpEmbedder: () => [
    { ...embedder, baseURL: 'http://model.test', apiKey: 'key', model: 'm', runtime: fakeRuntime() },
  ],
  'httpEmbedder().embed': () => [[], 'query', { signal: signal() }],
  isTimeZone: () => ['UTC'],
  'lexicalEmbedder().embed': () => [['a'], 'query', { signal: signal() }],
  memoryChannel: () => [{ name: 'memory', longest: 100, onMessage: () => {} }],
  'memoryChannel().failNext': () => [
    { error: new AgentError({ kind: 'network', code: 'no', message: 'No.' }) },
  ],
  'memoryChannel().pieces': () => ['Hello.'],
  'memoryChannel().send': () => [
    'chat-1',
    part,
    { signal: signal(), buttons: [{ label: 'Yes', data: 'yes' }], note: 'Note', replyTo: '1' },
  ],
  'memoryChannel().sendFile': () => [
    'chat-1',
    { name: 'a.txt', type: 'text/plain', text: 'a' },
    { note: 'Note' },
  ],
  'memoryChannel().edit': () => ['chat-1', '1', part, { buttons: [] }],
  'memoryChannel().typing': () => ['chat-1'],
  'memoryChannel().heard': () => ['tap-1', 'Yes.'],
  remember: () => [
    {
      messages: shared(sqlMessages(sql)),
      memory,
      agent: agent(),
      chatId: 'chat-1',
      threshold: { messages: 1 },
      keep: 1,
    },
  ],
  sqlChats: () => [sql],
  'sqlChats().get': () => ['chat-1'],
  'sqlChats().setTimeZone': () => ['chat-1', 'UTC'],
  'sqlChats().setRun': () => ['chat-1', 'run-1', 'run-0'],
  'sqlChats().running': () => ['chat-1'],
  'sqlChats().takeTurn': () => ['user-1', 1, { count: 1, perMs: 1 }],
  'sqlChats().noted': () => ['key'],
  'sqlChats().note': () => [{ key: 'key', chatId: 'chat-1', value: { a: 1 }, now: 1 }],
  'sqlChats().forget': () => ['chat-2'],
  sqlEvents: () => [sql, { runtime: fakeRuntime() }],
  'sqlEvents().claim': () => ['session-1', {}],
  'sqlEvents().append': async () => {
    const session = newFile().replace(/\W/g, '');
    const epoch = await sqlEvents(sql).claim(session);
    return [session, [event], { epoch }];
  },
  'sqlEvents().read': () => ['session-1', 0, 10],
  'sqlEvents().delete': () => ['session-2'],
  'sqlEvents().forgetTurns': () => ['prefix'],
  'sqlEvents().pruneTurns': () => [0],
  sqlMessages: () => [sql],
  'sqlMessages().add': () => [message],
  'sqlMessages().recent': () => ['chat-1', 10, 'message-1'],
  'sqlMessages().unsummarised': () => ['chat-1', 1, 10],
  'sqlMessages().summarised': () => ['chat-1', 'message-1'],
  'sqlMessages().startFresh': () => ['chat-1'],
  'sqlMessages().all': () => ['chat-1'],
  'sqlMessages().forget': () => ['chat-2'],
  sqlOutbox: () => [sql, { runtime: fakeRuntime(), attempts: 2, doubts: 1, leaseMs: 0 }],
  'sqlOutbox().deliver': () => [
    'key',
    'chat-1',
    part,
    async () => '1',
    { replyTo: '1', answer: 'a', atOnce: true },
  ],
  'sqlOutbox().confirm': () => ['key', 'chat-1', '1'],
  'sqlOutbox().giveUp': () => ['key', { kind: 'network', code: 'no', message: 'No.' }],
  'sqlOutbox().list': () => [{ state: 'sent', chatId: 'chat-1', limit: 10 }],
  'sqlOutbox().keepAnswer': () => [{ id: 'a', chatId: 'chat-1', markdown: 'Hello.', replyTo: '1' }],
  'sqlOutbox().answer': () => ['chat-1', '1'],
  'sqlOutbox().forget': () => ['chat-2'],
  'sqlOutbox().prune': () => [0],
  sqliteMemory: () => [{ sql, embedder: { ...embedder, embed: async () => [] } }],
  'sqliteMemory().add': () => [[], { signal: signal() }],
  'sqliteMemory().search': () => ['chat-9', 'tea', { limit: 1, floor: 0, signal: signal() }],
  'sqliteMemory().list': () => ['chat-1'],
  'sqliteMemory().forget': () => ['chat-2'],
  d1AuditLines: () => [sql],
  'd1AuditLines().append': () => [0, ['line']],
  'd1AuditLines().read': () => [0, 10],
  d1Budgets: () => [{ sql, runtime: fakeRuntime(), leaseMs: 1000 }],
  sqliteSql: () => [{ file: newFile(), runtime: fakeRuntime() }],
  'sqliteSql().run': () => ['SELECT ?1', [1]],
  'sqliteSql().batch': () => [[{ text: 'SELECT ?1', params: [1] }]],

  acceptUpdate: () => [
    { secret: 'secret', given: 'secret', length: '2', body: body(), onUpdate: async () => {} },
  ],
  deleteWebhook: () => [api(), { dropPending: true }],
  getMe: () => [api()],
  piecesOf: () => ['Hello.'],
  poll: () => [{ api: api(), signal: AbortSignal.abort(), onUpdate: async () => {}, waitSeconds: 1 }],
  readUpdate: () => [{ update_id: 1 }, { allowed: new Set(['7']), botName: 'bot', maxText: 10 }],
  secretMatches: () => ['a', 'b', shared(fakeRuntime())],
  setCommands: () => [api(), [{ name: 'help', text: 'Helps.' }]],
  setWebhook: () => [api(), webhook],
  telegramApi: () => [{ token, apiRoot: 'http://telegram.test', runtime: fakeRuntime(), timeoutMs: 10 }],
  telegramChannel: () => [{ token, api: api() }],
  'telegramChannel().pieces': () => ['Hello.'],
  'telegramChannel().typing': () => ['7'],
  'telegramChannel().heard': () => ['1', 'Yes.'],

  cloudflareRunner: () => [{ binding, sql, runtime: fakeRuntime(), lookMs: 1 }],
  'cloudflareRunner().start': () => ['input', { runId: 'run-1', key: 'key', whenBusy: 'queue', dueAt: 1 }],
  'cloudflareRunner().signal': () => ['run-1', 'name', 'value'],
  'cloudflareRunner().cancel': () => ['run-1'],
  'cloudflareRunner().status': () => ['run-1'],
  'cloudflareRunner().sweep': () => [0],
  'cloudflareRunner().prune': () => [0],
  d1Sql: () => [
    shared({ prepare: () => ({ bind: () => ({ all: async () => ({ meta: {} }) }) }), batch: async () => [] }),
  ],
  'd1Sql().run': () => ['SELECT ?1', [1]],
  'd1Sql().batch': () => [[{ text: 'SELECT ?1', params: [1] }]],
  runWorkflow: () => [
    {
      params: { runId: 'run-1' },
      step,
      workflow,
      sql,
      binding,
      runtime: shared(fakeRuntime()),
      lookMs: 1,
      pollMs: 1,
    },
  ],
  vectorizeMemory: () => [
    { index: vectorize, sql, embedder: { ...embedder, embed: async () => [] }, runtime: fakeRuntime() },
  ],
  'vectorizeMemory().add': () => [[], { signal: signal() }],
  'vectorizeMemory().search': () => ['chat-9', 'tea', { limit: 1, floor: 0, signal: signal() }],
  'vectorizeMemory().list': () => ['chat-1'],
  'vectorizeMemory().forget': () => ['chat-2'],
  workersAiEmbedder: () => [
    { ai: { run: async () => ({ data: [] }) }, model: 'm', dimensions: 2, floor: 0.5 },
  ],
  'workersAiEmbedder().embed': () => [[], 'query', { signal: signal() }],

  channelContract: () => [
    { name: 'one', open: async () => ({}), longest: 100, visible: (text: string) => text, lacks: {} },
  ],
  chatStoreContract: () => [place],
  memoryContract: () => [place],
  messageStoreContract: () => [place],
  outboxContract: () => [place],
  fakeTelegram: () => [
    { token, runtime: fakeRuntime(), botName: 'bot', plainHttp: true, post: async () => new Response() },
  ],
  'fakeTelegram().say': () => [ada, 'Hello.', undefined],
  'fakeTelegram().editSaid': () => [ada, 1, 'Hello.'],
  'fakeTelegram().sayOther': () => [ada, { photo: [] }],
  'fakeTelegram().sayInGroup': () => [ada, 1, 'Hello.'],
  'fakeTelegram().tap': () => [ada, 1, 'yes'],
  'fakeTelegram().push': () => ['message', {}],
  'fakeTelegram().handler': () => [new Request('http://telegram.test/')],
  'fakeTelegram().messages': () => [7],
  'fakeTelegram().fail': () => ['sendMessage', { type: 'limit', retryAfter: 1 }, 1],
  fakeVectorize: () => [{ dimensions: 2, immediate: true }],
  readHtml: () => ['<b>Hello.</b>'],
  serveTelegram: () => [telegram],
};

const ofThePlatform = 'a function of the platform';
const runsTheSubject = 'it runs a case, which the subject of the sample cannot pass';
const likeTheService = 'it fails like the service that it imitates';

const exceptions: Readonly<Record<string, string>> = {
  'createAssistant().workflow': 'a runner calls it, with input that receive has created',
  'channelContract()[0].run': runsTheSubject,
  'chatStoreContract()[0].run': runsTheSubject,
  'memoryContract()[0].run': runsTheSubject,
  'messageStoreContract()[0].run': runsTheSubject,
  'outboxContract()[0].run': runsTheSubject,
  'fakeTelegram().handler().blob': ofThePlatform,
  'fakeTelegram().handler().arrayBuffer': ofThePlatform,
  'fakeTelegram().handler().text': ofThePlatform,
  'fakeTelegram().handler().json': ofThePlatform,
  'fakeTelegram().handler().formData': ofThePlatform,
  'fakeTelegram().handler().bytes': ofThePlatform,
  'fakeTelegram().fetch': likeTheService,
  'fakeVectorize().upsert': likeTheService,
  'fakeVectorize().query': likeTheService,
  'fakeVectorize().getByIds': likeTheService,
  'fakeVectorize().deleteByIds': likeTheService,
};

export const sampleTable: {
  readonly samples: typeof samples;
  readonly exceptions: typeof exceptions;
  readonly folder: string;
} = { samples, exceptions, folder };

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Json } from '@cobbler/agent';
import type { Runner } from '@cobbler/agent/runner';
import { memoryRunner } from '@cobbler/agent/runner';
import type { ScriptStep } from '@cobbler/agent/testing';
import { scriptedAgent } from '@cobbler/agent/testing';
import { onTestFinished } from 'vitest';
import type { Assistant } from '../../src/assistant.ts';
import { createAssistant } from '../../src/assistant.ts';
import type { MemoryChannel } from '../../src/channel/memory-channel.ts';
import { memoryChannel } from '../../src/channel/memory-channel.ts';
import { lexicalEmbedder } from '../../src/memory/lexical-embedder.ts';
import { sqliteMemory } from '../../src/sqlite/sqlite-memory.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqlChats } from '../../src/storage/chat-store.ts';
import { sqlEvents } from '../../src/storage/event-store.ts';
import { sqlMessages } from '../../src/storage/message-store.ts';
import { sqlOutbox } from '../../src/storage/outbox.ts';
import type { AssistantOptions } from '../../src/turn/dependencies.ts';

/** An assistant with real components, a database file and a model that follows a script. */
export interface Stage {
  readonly assistant: Assistant;
  readonly channel: MemoryChannel;
  readonly runner: Runner;
  readonly options: AssistantOptions;
  readonly agent: ReturnType<typeof scriptedAgent>;
  readonly reports: string[];
  /** Texts that were sent to the chat. */
  texts(): readonly string[];
  /** Delivers a text to the assistant without waiting for the turn. Returns the id of its run. */
  say(text: string, id?: string): Promise<string>;
  /** Delivers a text to the assistant and returns the result of its run. */
  ask(text: string): Promise<Json>;
  tap(data: string): Promise<Json>;
}

const chat = { chatId: '7', userId: '7', sentAt: Date.UTC(2026, 10, 22, 9, 30) };

export function stage(script: readonly ScriptStep[], rest: Partial<AssistantOptions> = {}): Stage {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-assistant-'));
  const sql = sqliteSql({ file: join(folder, 'chats.db') });
  const channel = memoryChannel();
  const agent = scriptedAgent(script, { retry: { retries: 0 } });
  const reports: string[] = [];
  const options: AssistantOptions = {
    agent,
    channel,
    messages: sqlMessages(sql),
    chats: sqlChats(sql),
    outbox: sqlOutbox(sql),
    turns: sqlEvents(sql),
    memory: sqliteMemory({ sql, embedder: lexicalEmbedder() }),
    runner: () => runner,
    report: (error, where) => reports.push(`${where}: ${error.message}`),
    ...rest,
  };
  const assistant = createAssistant(options);
  const runner: Runner = memoryRunner({ workflow: assistant.workflow });
  onTestFinished(async () => {
    await runner.close();
    sql.close();
    rmSync(folder, { recursive: true });
  });
  let arrivals = 0;
  const nextId = () => {
    arrivals += 1;
    return String(arrivals);
  };
  const say = async (text: string, id = nextId()) => {
    await assistant.receive({ type: 'text', id, ...chat, text });
    return `memory-${id}`;
  };
  return {
    assistant,
    channel,
    runner,
    options,
    agent,
    reports,
    texts: () => channel.messages.map(({ text }) => text),
    say,
    ask: async (text) => await runner.result(await say(text)),
    async tap(data) {
      const id = nextId();
      const message = channel.messages.at(-1)?.id;
      const where = message === undefined ? {} : { message };
      await assistant.receive({ type: 'tap', id, ...chat, data, tapId: `tap-${id}`, ...where });
      return await runner.result(`memory-${id}`);
    },
  };
}

/**
 * Polls until `look` returns a value. The result never depends on a clock, but on threads of
 * Node.js that other work may keep busy.
 */
export async function eventually<Value>(look: () => Value | undefined): Promise<Value> {
  const deadline = performance.now() + 60_000;
  while (performance.now() < deadline) {
    const found = look();
    if (found !== undefined) return found;
    await new Promise((resolve) => setImmediate(resolve));
  }
  throw new Error('The condition was not met within 60 s.');
}

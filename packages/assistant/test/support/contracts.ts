import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { ContractCase } from '@cobbler/agent/testing';
import { vectorizeMemory } from '../../src/cloudflare/vectorize-memory.ts';
import { sqliteMemory } from '../../src/sqlite/sqlite-memory.ts';
import type { SqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqlChats } from '../../src/storage/chat-store.ts';
import { sqlMessages } from '../../src/storage/message-store.ts';
import { sqlOutbox } from '../../src/storage/outbox.ts';
import { channelContract } from '../../src/testing/channel-contract.ts';
import { chatStoreContract } from '../../src/testing/chat-store-contract.ts';
import { fakeVectorize } from '../../src/testing/fake-vectorize.ts';
import { memoryContract } from '../../src/testing/memory-contract.ts';
import { messageStoreContract } from '../../src/testing/message-store-contract.ts';
import { outboxContract } from '../../src/testing/outbox-contract.ts';
import { memorySubject } from '../channel/memory-channel-subject.ts';
import { turnStoreContract } from '../storage/event-store-subject.ts';
import { telegramSubject } from '../telegram/telegram-subject.ts';
import { inFile } from './places.ts';

export interface AssistantContract {
  readonly name: string;
  readonly cases: () => readonly ContractCase[];
}

/** All contracts of the assistant's ports, each with a local implementation. */
export const contracts: readonly AssistantContract[] = [
  { name: 'channel telegram', cases: () => channelContract(telegramSubject) },
  { name: 'channel memory', cases: () => channelContract(memorySubject) },
  { name: 'messages sqlite', cases: () => messageStoreContract(inFile((sql) => sqlMessages(sql))) },
  { name: 'chats sqlite', cases: () => chatStoreContract(inFile((sql) => sqlChats(sql))) },
  {
    name: 'outbox sqlite',
    cases: () => outboxContract(inFile((sql, { runtime }) => sqlOutbox(sql, { runtime }))),
  },
  {
    name: 'memory sqlite',
    cases: () => memoryContract(inFile((sql, { embedder }) => sqliteMemory({ sql, embedder }))),
  },
  ...['at once', 'late'].map((when) => ({
    name: `memory vectorize ${when}`,
    cases: () => {
      const index = fakeVectorize({ dimensions: 1536, immediate: when === 'at once' });
      return memoryContract(
        inFile((sql, { embedder, runtime }) => vectorizeMemory({ index, sql, embedder, runtime })),
      );
    },
  })),
  { name: 'turns sqlite', cases: turnsInFiles },
];

/** Stores each case in its own file. The files are deleted when the process exits. */
function turnsInFiles(): readonly ContractCase[] {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-turns-'));
  process.once('exit', () => rmSync(folder, { recursive: true, force: true }));
  let files = 0;
  return turnStoreContract('sqlite', async () => {
    files += 1;
    const file = join(folder, `${files}.db`);
    return { open: () => sqliteSql({ file }), shut: (sql) => (sql as SqliteSql).close() };
  });
}

import { describe } from 'vitest';
import { sqlChats } from '../src/chat-store.ts';
import { vectorizeMemory } from '../src/cloudflare/vectorize-memory.ts';
import { sqlMessages } from '../src/message-store.ts';
import { sqlOutbox } from '../src/outbox.ts';
import { sqliteMemory } from '../src/sqlite/sqlite-memory.ts';
import { chatStoreContract } from '../src/testing/chat-store-contract.ts';
import { fakeVectorize } from '../src/testing/fake-vectorize.ts';
import { memoryContract } from '../src/testing/memory-contract.ts';
import { messageStoreContract } from '../src/testing/message-store-contract.ts';
import { outboxContract } from '../src/testing/outbox-contract.ts';
import { contractSuite } from './contract-suite.ts';
import { inFile } from './places.ts';

describe('S3.10 messages in a file', () => {
  contractSuite(messageStoreContract(inFile((sql) => sqlMessages(sql))));
});

describe('S3.10 chats in a file', () => {
  contractSuite(chatStoreContract(inFile((sql) => sqlChats(sql))));
});

describe('the outbox in a file', () => {
  contractSuite(outboxContract(inFile((sql, { runtime }) => sqlOutbox(sql, { runtime }))));
});

describe('S3.13 memories in a file', () => {
  contractSuite(memoryContract(inFile((sql, { embedder }) => sqliteMemory({ sql, embedder }))));
});

describe.each(['at once', 'never'])('S3.13 memories in Vectorize, which answers with them %s', (when) => {
  const index = fakeVectorize({ dimensions: 1536, immediate: when === 'at once' });
  contractSuite(
    memoryContract(
      inFile((sql, { embedder, runtime }) => vectorizeMemory({ index, sql, embedder, runtime })),
    ),
  );
});

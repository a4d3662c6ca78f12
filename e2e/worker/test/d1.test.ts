import { afterAll, beforeAll, describe } from 'vitest';
import { sqlChats } from '../../../packages/assistant/src/chat-store.ts';
import { vectorizeMemory } from '../../../packages/assistant/src/cloudflare/vectorize-memory.ts';
import { sqlMessages } from '../../../packages/assistant/src/message-store.ts';
import { sqlOutbox } from '../../../packages/assistant/src/outbox.ts';
import { sqliteMemory } from '../../../packages/assistant/src/sqlite/sqlite-memory.ts';
import { chatStoreContract } from '../../../packages/assistant/src/testing/chat-store-contract.ts';
import { fakeVectorize } from '../../../packages/assistant/src/testing/fake-vectorize.ts';
import { memoryContract } from '../../../packages/assistant/src/testing/memory-contract.ts';
import { messageStoreContract } from '../../../packages/assistant/src/testing/message-store-contract.ts';
import { outboxContract } from '../../../packages/assistant/src/testing/outbox-contract.ts';
import { contractSuite } from '../../../packages/assistant/test/contract-suite.ts';
import { turnStoreContract } from '../../../packages/assistant/test/event-store-subject.ts';
import { D1Place, empty } from '../src/d1-place.ts';

const d1 = new D1Place();
beforeAll(() => d1.migrate(), 60_000);
afterAll(() => d1.dispose());

describe('S3.10 messages in D1', () => {
  contractSuite(messageStoreContract(d1.subject((sql) => sqlMessages(sql))));
});

describe('S3.10 chats in D1', () => {
  contractSuite(chatStoreContract(d1.subject((sql) => sqlChats(sql))));
});

describe('the outbox in D1', () => {
  contractSuite(outboxContract(d1.subject((sql, { runtime }) => sqlOutbox(sql, { runtime }))));
});

describe('S3.12 memories in D1 and Vectorize', () => {
  const index = fakeVectorize({ dimensions: 1536 });
  contractSuite(
    memoryContract(
      d1.subject((sql, { embedder, runtime }) => vectorizeMemory({ index, sql, embedder, runtime })),
    ),
  );
});

describe('S3.12 memories in D1 alone', () => {
  contractSuite(memoryContract(d1.subject((sql, { embedder }) => sqliteMemory({ sql, embedder }))));
});

describe('turns in D1', () => {
  const begin = async () => {
    const sql = await d1.sql();
    await empty(sql);
    return { open: () => sql, shut: () => {} };
  };
  contractSuite(
    turnStoreContract('d1', begin, {
      'an event may be large': 'D1 takes no value of more than 2 MB; the core puts long output away as blobs',
    }),
  );
});

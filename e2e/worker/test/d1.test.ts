import { systemRuntime } from '@cobbler/agent';
import { budgetStoreContract, describeContract } from '@cobbler/conformance';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { d1Budgets } from '../../../packages/assistant/src/cloudflare/d1-budgets.ts';
import { vectorizeMemory } from '../../../packages/assistant/src/cloudflare/vectorize-memory.ts';
import { sqliteMemory } from '../../../packages/assistant/src/sqlite/sqlite-memory.ts';
import { sqlChats } from '../../../packages/assistant/src/storage/chat-store.ts';
import { sqlMessages } from '../../../packages/assistant/src/storage/message-store.ts';
import { sqlOutbox } from '../../../packages/assistant/src/storage/outbox.ts';
import { chatStoreContract } from '../../../packages/assistant/src/testing/chat-store-contract.ts';
import { fakeVectorize } from '../../../packages/assistant/src/testing/fake-vectorize.ts';
import { memoryContract } from '../../../packages/assistant/src/testing/memory-contract.ts';
import { messageStoreContract } from '../../../packages/assistant/src/testing/message-store-contract.ts';
import { outboxContract } from '../../../packages/assistant/src/testing/outbox-contract.ts';
import { turnStoreContract } from '../../../packages/assistant/test/storage/event-store-subject.ts';
import { D1Place, empty } from '../src/d1-place.ts';

const d1 = new D1Place();
beforeAll(() => d1.migrate(), 60_000);
afterAll(() => d1.dispose());

describe('messages in D1', () => {
  describeContract(messageStoreContract(d1.subject((sql) => sqlMessages(sql))), { describe, it });
});

describe('chats in D1', () => {
  describeContract(chatStoreContract(d1.subject((sql) => sqlChats(sql))), { describe, it });
});

describe('the outbox in D1', () => {
  describeContract(outboxContract(d1.subject((sql, { runtime }) => sqlOutbox(sql, { runtime }))), {
    describe,
    it,
  });
});

describe('memories in D1 and Vectorize', () => {
  const index = fakeVectorize({ dimensions: 1536 });
  describeContract(
    memoryContract(
      d1.subject((sql, { embedder, runtime }) => vectorizeMemory({ index, sql, embedder, runtime })),
    ),
    { describe, it },
  );
});

describe('memories in D1 alone', () => {
  describeContract(memoryContract(d1.subject((sql, { embedder }) => sqliteMemory({ sql, embedder }))), {
    describe,
    it,
  });
});

describe('budgets in D1', () => {
  describeContract(
    budgetStoreContract({
      name: 'd1',
      async place(now) {
        const sql = await d1.sql();
        await empty(sql);
        return { open: () => d1Budgets({ sql, runtime: { ...systemRuntime, now } }) };
      },
    }),
    { describe, it },
  );
});

describe('turns in D1', () => {
  const begin = async () => {
    const sql = await d1.sql();
    await empty(sql);
    return { open: () => sql, shut: () => {} };
  };
  describeContract(
    turnStoreContract('d1', begin, {
      'an event can be large': 'D1 accepts no value over 2 MB; the core offloads long output to blobs',
    }),
    { describe, it },
  );
});

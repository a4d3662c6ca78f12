import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fakeRuntime } from '@cobbler/agent/testing';
import { describeContract } from '@cobbler/conformance';
import { afterAll, describe, expect, it } from 'vitest';
import type { SqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqliteSql } from '../../src/sqlite/sqlite-sql.ts';
import { sqlEvents } from '../../src/storage/event-store.ts';
import { turnStoreContract } from './event-store-subject.ts';

const folder = mkdtempSync(join(tmpdir(), 'cobbler-turns-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let files = 0;

describe('the store of turns in a file', () => {
  describeContract(
    turnStoreContract('sqlite', async () => {
      const file = join(folder, `${files++}.db`);
      return { open: () => sqliteSql({ file }), shut: (sql) => (sql as SqliteSql).close() };
    }),
    { describe, it },
  );
});

describe('the store of turns', () => {
  const begin = async () => {
    const runtime = fakeRuntime();
    const store = sqlEvents(sqliteSql({ file: join(folder, `${files++}.db`) }), { runtime });
    const write = async (id: string) => {
      const epoch = await store.claim(id);
      const [last] = (await store.read(id)).slice(-1);
      const seq = (last?.seq ?? 0) + 1;
      const head = { v: 1, seq, id: `${id}-${seq}`, time: '2026-01-01T00:00:00.000Z', runId: 'r' } as const;
      await store.append(id, [{ ...head, type: 'resumed' }], { epoch });
      return epoch;
    };
    return { runtime, store, write };
  };

  it('deletes the turns whose ids start with the prefix of a chat, and no others', async () => {
    const { store, write } = await begin();
    const ids = ['chat:1:a', 'chat:1:b', 'chat:10:a', 'chat:_:a', 'chat:x:a'];
    for (const id of ids) await write(id);
    expect(await store.forgetTurns('chat:1:')).toBe(2);
    expect(await store.forgetTurns('chat:_:')).toBe(1);
    expect(await store.forgetTurns('')).toBe(0);
    expect(await store.sessions()).toEqual(['chat:10:a', 'chat:x:a']);
    expect(await store.read('chat:1:a')).toEqual([]);
  });

  it('rejects writes to a turn that was deleted while it ran', async () => {
    const { store, write } = await begin();
    const epoch = await write('chat:1:a');
    await store.forgetTurns('chat:1:');
    await expect(store.append('chat:1:a', [], { epoch })).rejects.toMatchObject({ code: 'fenced' });
    expect(await store.sessions()).toEqual([]);
  });

  it('prunes turns without recent events', async () => {
    const { runtime, store, write } = await begin();
    await write('old');
    await write('kept');
    await runtime.advance(1000);
    await write('kept');
    expect(await store.pruneTurns(runtime.now())).toBe(1);
    expect(await store.sessions()).toEqual(['kept']);
    expect((await store.read('kept')).map(({ seq }) => seq)).toEqual([1, 2]);
  });

  it('rejects an invalid turn id', async () => {
    const { store } = await begin();
    await expect(store.claim('../up')).rejects.toMatchObject({ kind: 'invalid', code: 'session_id' });
  });
});

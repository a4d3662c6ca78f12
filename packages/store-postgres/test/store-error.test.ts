import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import pg from 'pg';
import { expect, test } from 'vitest';
import { storeError } from '../src/store-error.ts';

test.each([
  ['53100', 'store_full', /out of disk space or memory/],
  ['53200', 'store_full', /out of disk space or memory/],
  ['54000', 'too_large', /larger than/],
  ['22P05', 'store', /failed: no such character/],
])('the database error %s has the code %s', (code, expected, words) => {
  const error = storeError(Object.assign(new Error('no such character'), { code }), 'db');
  expect(error).toMatchObject({ code: expected, message: expect.stringMatching(words) });
});

test('a pool without a free connection is busy, and the database is not called unreachable', async () => {
  const silent = createServer().listen(0, '127.0.0.1');
  await once(silent, 'listening');
  const { port } = silent.address() as AddressInfo;
  const pool = new pg.Pool({ host: '127.0.0.1', port, max: 1, connectionTimeoutMillis: 20 });
  const first: unknown = pool.connect().catch((error: unknown) => error);
  const second: unknown = pool.connect().catch((error: unknown) => error);
  expect(storeError(await second, 'db')).toMatchObject({ code: 'store_busy', retryable: true });
  expect(storeError(await first, 'db')).toMatchObject({ code: 'store_unreachable', retryable: true });
  await pool.end();
  silent.close();
});

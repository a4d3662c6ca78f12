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

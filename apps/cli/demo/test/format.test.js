import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formatCents } from '../src/format.js';

test('cents are written with two digits', () => {
  assert.equal(formatCents(1850), '18.50');
  assert.equal(formatCents(5), '0.05');
});

import assert from 'node:assert/strict';
import { test } from 'node:test';
import { total } from '../src/ticket.js';

test('an empty ticket costs nothing', () => {
  assert.equal(total([]), 0);
});

test('a ticket adds up its jobs', () => {
  const jobs = [
    { kind: 'sole', count: 1 },
    { kind: 'polish', count: 1 },
  ];
  assert.equal(total(jobs), 2300);
});

test('a pair of heels costs twice the price of one', () => {
  assert.equal(total([{ kind: 'heel', count: 2 }]), 2400);
});

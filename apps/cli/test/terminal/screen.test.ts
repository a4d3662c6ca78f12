import { expect, test } from 'vitest';
import { screenFor } from '../../src/terminal/screen.ts';
import { fakeOutput } from '../support/fake-io.ts';

const utf8 = { LANG: 'en_US.UTF-8' };

test.each([
  [true, utf8, { color: true, unicode: true, redraw: true }],
  [false, utf8, { color: false, unicode: true, redraw: false }],
  [true, { ...utf8, NO_COLOR: '1' }, { color: false, redraw: true }],
  [true, { ...utf8, NO_COLOR: '' }, { color: true }],
  [false, { ...utf8, FORCE_COLOR: '1' }, { color: true, redraw: false }],
  [true, { ...utf8, FORCE_COLOR: '0' }, { color: false }],
  [true, { ...utf8, NO_COLOR: '1', FORCE_COLOR: '1' }, { color: false }],
  [true, { ...utf8, TERM: 'dumb' }, { color: false, redraw: false }],
  [true, { LANG: 'C' }, { unicode: false }],
  [true, {}, { unicode: false }],
  [true, { LANG: 'en_US.UTF-8', LC_ALL: 'C' }, { unicode: false }],
  [true, { LANG: 'C', LC_CTYPE: 'de_CH.utf8' }, { unicode: true }],
])('terminal %s with %j supports %j', (tty, env, expected) => {
  expect(screenFor(fakeOutput(tty, 80), env, 'linux')).toMatchObject(expected);
});

test('the width comes from the terminal, else from COLUMNS, else is 80, and is at least 20', () => {
  expect(screenFor(fakeOutput(true, 132), { COLUMNS: '50' }).columns()).toBe(132);
  expect(screenFor(fakeOutput(false, 0), { COLUMNS: '50' }).columns()).toBe(50);
  expect(screenFor(fakeOutput(false, 0), { COLUMNS: 'wide' }).columns()).toBe(80);
  expect(screenFor(fakeOutput(true, 5), {}).columns()).toBe(20);
});

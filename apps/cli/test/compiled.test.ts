import { join } from 'node:path';
import { cobblerHome } from '@cobbler/agent/node';
import { expect, test } from 'vitest';
import { compiledFolder } from '../src/compiled.ts';

test.each([
  [{ COBBLER_HOME: '/kept', HOME: '/home/someone' }],
  [{ COBBLER_HOME: '', HOME: '/home/someone' }],
  [{ HOME: '/home/someone' }],
  [{ USERPROFILE: '/users/someone' }],
  [{ HOME: '/home/someone', USERPROFILE: '/users/someone' }],
])('with %j what Node compiled is kept where everything is kept', (env) => {
  expect(compiledFolder(env)).toBe(join(cobblerHome(env) ?? '', 'compiled'));
});

test('without a home nothing is kept', () => {
  expect(compiledFolder({})).toBeUndefined();
  expect(compiledFolder({ HOME: '' })).toBeUndefined();
});

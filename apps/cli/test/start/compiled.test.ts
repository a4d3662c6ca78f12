import { join } from 'node:path';
import { cobblerHome } from '@cobbler/agent/node';
import { expect, test } from 'vitest';
import { compiledFolder } from '../../src/start/compiled.ts';

test.each([
  [{ COBBLER_HOME: '/kept', HOME: '/home/someone' }],
  [{ COBBLER_HOME: '', HOME: '/home/someone' }],
  [{ HOME: '/home/someone' }],
  [{ USERPROFILE: '/users/someone' }],
  [{ HOME: '/home/someone', USERPROFILE: '/users/someone' }],
])('stores the compile cache in the home directory for %j', (env) => {
  expect(compiledFolder(env)).toBe(join(cobblerHome(env) ?? '', 'compiled'));
});

test('stores no compile cache without a home directory', () => {
  expect(compiledFolder({})).toBeUndefined();
  expect(compiledFolder({ HOME: '' })).toBeUndefined();
});

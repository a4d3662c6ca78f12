// Installs PostgreSQL, its pooler and the Restate server for the suites that use them, from Debian and npm.
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { capture, Refusal, tell } from '../../../scripts/child.mjs';
import { installSuite } from '../../../scripts/tasks.mjs';

/**
 * Installs the missing servers. Restate is installed in e2e/scale.
 * @param {string} root the project
 * @throws Refusal if that is not possible
 */
export async function installServers(root) {
  if (process.env['COBBLER_RESTATE_BIN'] === undefined) {
    const suite = { install: 'e2e/scale', fetches: 'the Restate server (0.2 GB, once)' };
    await installSuite(root, process.env, suite);
  }
  await installDebian(root);
}

/**
 * Installs PostgreSQL and its pooler from Debian's packages if they are missing.
 * @param {string} root
 */
async function installDebian(root) {
  const missing = [
    ...(hasPostgres() ? [] : ['postgresql']),
    ...(existsSync('/usr/sbin/pgbouncer') ? [] : ['pgbouncer']),
  ];
  if (missing.length === 0) return;
  const names = missing.join(' ');
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Refusal(`Not installed, but required: ${names}. On Debian: sudo apt-get install ${names}.`);
  }
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
  await tell(`installing ${names}`, async () => {
    for (const args of [['update'], ['install', '-y', '--no-install-recommends', ...missing]]) {
      const { code, output } = await capture('apt-get', args, { cwd: root, env });
      if (code === 0) continue;
      throw new Refusal(`apt-get ${args[0]} failed:\n${output.trim().split('\n').slice(-8).join('\n')}`);
    }
  });
}

function hasPostgres() {
  if (process.env['COBBLER_POSTGRES_BIN'] !== undefined) return true;
  const versions = '/usr/lib/postgresql';
  return (
    existsSync(versions) &&
    readdirSync(versions).some((version) => existsSync(join(versions, version, 'bin', 'initdb')))
  );
}

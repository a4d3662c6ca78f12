// What runs on more than one machine, tried with real servers: npm run test:scale [-- contract | serve | proof]. Fetches the
// Restate server (0.2 GB, once) into e2e/scale, and PostgreSQL and pgbouncer from Debian where they are missing; fails,
// not skips, when it cannot.
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, handOver, Refusal, tell } from './child.mjs';
import { installSuite, runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'e2e', 'scale');

/** PostgreSQL and its pooler, from Debian's packages where they are not there. */
async function installDebian() {
  const missing = [
    ...(hasPostgres() ? [] : ['postgresql']),
    ...(existsSync('/usr/sbin/pgbouncer') ? [] : ['pgbouncer']),
  ];
  if (missing.length === 0) return;
  const names = missing.join(' ');
  if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get')) {
    throw new Refusal(`These are needed and not installed: ${names}. Debian: sudo apt-get install ${names}.`);
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

/** The tests of both packages, with everything that is skipped where there are no servers. */
async function contracts() {
  let worst = 0;
  for (const name of ['store-postgres', 'runner-restate']) {
    const args = ['run', '--root', join(root, 'packages', name)];
    const env = { ...process.env, COBBLER_SCALE: '1', NODE_NO_WARNINGS: '1' };
    worst = Math.max(worst, await handOver('vitest', args, { cwd: root, env }));
  }
  return worst;
}

/** `cobbler serve` in two processes: what was begun, asked for or said at one, and gone on with at the other. */
function serve() {
  const env = { ...process.env, NODE_NO_WARNINGS: '1' };
  return handOver('vitest', ['run', '--root', folder], { cwd: root, env });
}

/** Kills one node and one process under twenty sessions. */
function proof() {
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const args = [...flags, join(folder, 'src', 'proof.ts')];
  return handOver(process.execPath, args, { cwd: root, env: process.env });
}

const parts = { contract: contracts, serve, proof };

await runSuite('scale', async (words) => {
  const unknown = words.filter((word) => !Object.hasOwn(parts, word));
  if (unknown.length > 0)
    throw new Refusal(`There is no part ${unknown.join(', ')}: contract, serve, proof.`);
  if (process.env['COBBLER_RESTATE_BIN'] === undefined)
    await installSuite(root, folder, 'the Restate server (0.2 GB, once)', { DO_NOT_TRACK: '1' });
  await installDebian();
  let worst = 0;
  for (const [name, run] of Object.entries(parts)) {
    if (words.length > 0 && !words.includes(name)) continue;
    process.stdout.write(`scale: ${name}\n`);
    worst = Math.max(worst, await run());
  }
  return worst;
});

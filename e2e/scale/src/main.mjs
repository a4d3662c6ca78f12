// Tests several processes with real servers: npm run verify -- scale [contract | serve | readers | proof].
// Downloads the Restate server (0.2 GB, once), and installs PostgreSQL and pgbouncer from Debian if they are missing.
// Fails instead of skipping if it cannot.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from '../../../scripts/child.mjs';
import { sourceFlags } from '../../../scripts/tasks.mjs';
import { installCli } from '../../installed-cli.mjs';
import { installServers } from './servers.mjs';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/**
 * Runs the tests of a directory.
 * @param {string} folder
 * @param {Record<string, string>} env
 */
const tests = (folder, env) =>
  handOver('vitest', ['run', '--root', join(root, folder)], {
    cwd: root,
    env: { ...process.env, NODE_NO_WARNINGS: '1', ...env },
  });

/**
 * Runs a program of this suite with the installed command.
 * @param {string} file
 * @param {string} bin
 */
const program = (file, bin) =>
  handOver(process.execPath, [...sourceFlags, join(import.meta.dirname, file)], {
    cwd: root,
    env: { ...process.env, COBBLER_BIN: bin },
  });

/**
 * Runs a part with its own installation of the packed command.
 * @param {(bin: string) => Promise<number>} part
 */
async function withCommand(part) {
  const place = mkdtempSync(join(tmpdir(), 'cobbler-scale-'));
  try {
    return await part((await installCli(root, place)).bin);
  } finally {
    rmSync(place, { recursive: true, force: true });
  }
}

/**
 * `contract` runs the tests that are skipped without servers; `proof` kills a node and a process with twenty
 * sessions.
 */
const parts = {
  contract: async () => {
    const codes = [];
    for (const name of ['store-postgres', 'runner-restate'])
      codes.push(await tests(`packages/${name}`, { COBBLER_SCALE: '1', COBBLER_TEST_LEVEL: 'full' }));
    return Math.max(...codes);
  },
  serve: () => withCommand((bin) => tests('e2e/scale', { COBBLER_BIN: bin })),
  readers: () => withCommand((bin) => program('readers.ts', bin)),
  proof: () => withCommand((bin) => program('proof.ts', bin)),
};

const words = process.argv.slice(2);
const unknown = words.filter((word) => !Object.hasOwn(parts, word));
if (unknown.length > 0) {
  process.stderr.write(
    `scale: Cannot run ${unknown.join(', ')}: unknown part. Use: ${Object.keys(parts).join(', ')}.\n`,
  );
  process.exit(1);
}
await installServers(root);
for (const [name, run] of Object.entries(parts)) {
  if (words.length > 0 && !words.includes(name)) continue;
  process.stdout.write(`scale: ${name}\n`);
  process.exitCode = Math.max(Number(process.exitCode ?? 0), await run());
}

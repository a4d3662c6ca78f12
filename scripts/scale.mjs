// What runs on more than one machine, tried with real servers: npm run verify -- scale [-- contract | serve | readers | proof].
// Fetches the Restate server (0.2 GB, once) into e2e/scale, and PostgreSQL and pgbouncer from Debian where they are missing;
// fails, not skips, when it cannot.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver, Refusal } from './child.mjs';
import { installCli } from './installed-cli.mjs';
import { installServers } from './scale-servers.mjs';
import { runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'e2e', 'scale');

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

/**
 * `cobbler serve` in two processes: what was begun, asked for or said at one, and gone on with at the other.
 * @param {string} bin the installed command
 */
function serve(bin) {
  const env = { ...process.env, NODE_NO_WARNINGS: '1', COBBLER_BIN: bin };
  return handOver('vitest', ['run', '--root', folder], { cwd: root, env });
}

/**
 * Two `cobbler serve` on one store, both prompted: cuts connections of their readers and kills the servers.
 * @param {string} bin
 */
function readers(bin) {
  return program('readers.ts', bin);
}

/**
 * Kills one node and one process under twenty sessions.
 * @param {string} bin
 */
function proof(bin) {
  return program('proof.ts', bin);
}

/**
 * @param {string} file
 * @param {string} bin
 */
function program(file, bin) {
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const args = [...flags, join(folder, 'src', file)];
  return handOver(process.execPath, args, { cwd: root, env: { ...process.env, COBBLER_BIN: bin } });
}

/**
 * Runs a part with the packed command, which no other suite shares.
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

const parts = {
  contract: contracts,
  serve: () => withCommand(serve),
  readers: () => withCommand(readers),
  proof: () => withCommand(proof),
};

await runSuite('scale', async (words) => {
  const unknown = words.filter((word) => !Object.hasOwn(parts, word));
  if (unknown.length > 0)
    throw new Refusal(`There is no part ${unknown.join(', ')}: ${Object.keys(parts).join(', ')}.`);
  await installServers(root);
  let worst = 0;
  for (const [name, run] of Object.entries(parts)) {
    if (words.length > 0 && !words.includes(name)) continue;
    process.stdout.write(`scale: ${name}\n`);
    worst = Math.max(worst, await run());
  }
  return worst;
});

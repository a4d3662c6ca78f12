// What runs on Cloudflare, run in a real workerd: npm run test:worker [-- WORDS]. Fetches workerd and wrangler (0.2 GB,
// once) into e2e/worker and fails, not skips, when it cannot.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, handOver, Refusal, tell } from './child.mjs';
import { cleanEnvironment } from './setup.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'e2e', 'worker');

/** Installs the lockfile's packages unless they are there already. */
async function install() {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const state = createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
  const stamp = join(folder, 'node_modules', '.cobbler-stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  const { code, output } = await tell('fetching workerd and wrangler (0.2 GB, once)', () =>
    capture('npm', args, { cwd: folder, env: cleanEnvironment(process.env) }),
  );
  if (code !== 0) {
    throw new Refusal(`npm could not install e2e/worker:\n${output.trim().split('\n').slice(-8).join('\n')}`);
  }
  writeFileSync(stamp, state);
}

/**
 * @param {string[]} words
 * @returns {Promise<number>}
 */
async function main(words) {
  await install();
  const config = join(folder, 'vitest.config.ts');
  const env = { ...process.env, NODE_NO_WARNINGS: '1' };
  return handOver('vitest', ['run', '--root', folder, '--config', config, ...words], { cwd: root, env });
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`worker: ${error instanceof Refusal ? error.message : (error?.stack ?? error)}\n`);
    process.exitCode = 1;
  },
);

// Fetches the real programs (0.8 GB, once) into e2e/clis and drives them: npm run test:clis [-- WORDS].
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, handOver, Refusal, tell } from './child.mjs';
import { cleanEnvironment } from './setup.mjs';

const folder = join(dirname(dirname(fileURLToPath(import.meta.url))), 'e2e', 'clis');

/** Installs the lockfile's packages unless they are there already. */
async function install() {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const state = createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
  const stamp = join(folder, 'node_modules', '.cobbler-stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  const { code, output } = await tell('fetching claude and codex (0.8 GB, once)', () =>
    capture('npm', args, { cwd: folder, env: cleanEnvironment(process.env) }),
  );
  if (code !== 0) {
    throw new Refusal(`npm could not install e2e/clis:\n${output.trim().split('\n').slice(-8).join('\n')}`);
  }
  writeFileSync(stamp, state);
}

/**
 * @param {string[]} words
 * @returns {Promise<number>}
 */
async function main(words) {
  await install();
  const flags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];
  const args = [...flags, join(folder, 'src', 'main.ts'), ...words];
  return handOver(process.execPath, args, { cwd: folder, env: cleanEnvironment(process.env) });
}

main(process.argv.slice(2)).then(
  (code) => {
    process.exitCode = code;
  },
  (error) => {
    process.stderr.write(`clis: ${error instanceof Refusal ? error.message : (error?.stack ?? error)}\n`);
    process.exitCode = 1;
  },
);

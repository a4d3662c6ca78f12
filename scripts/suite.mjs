// A suite outside the workspace, with a lockfile of its own for what is too heavy for everybody.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { capture, Refusal, tell } from './child.mjs';
import { cleanEnvironment } from './setup.mjs';

/** Of npm's output, the end says what went wrong. */
const toldLines = 8;

/**
 * Installs the packages of a folder's lockfile unless they are there already.
 * @param {string} root the project
 * @param {string} folder the suite's
 * @param {string} what what is fetched and how much, for whoever waits
 * @param {Record<string, string>} [extra] variables for the install scripts
 */
export async function installSuite(root, folder, what, extra = {}) {
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const state = createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
  const stamp = join(folder, 'node_modules', '.cobbler-stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  const env = { ...cleanEnvironment(process.env), ...extra };
  const { code, output } = await tell(`fetching ${what}`, () => capture('npm', args, { cwd: folder, env }));
  if (code !== 0) {
    const end = output.trim().split('\n').slice(-toldLines).join('\n');
    throw new Refusal(`npm could not install ${relative(root, folder)}:\n${end}`);
  }
  writeFileSync(stamp, state);
}

/**
 * Runs a suite to its exit code; a refusal is told without a stack.
 * @param {string} name
 * @param {(words: string[]) => Promise<number>} main
 */
export async function runSuite(name, main) {
  try {
    process.exitCode = await main(process.argv.slice(2));
  } catch (error) {
    const text = error instanceof Error && !(error instanceof Refusal) ? error.stack : undefined;
    process.stderr.write(`${name}: ${text ?? (error instanceof Error ? error.message : String(error))}\n`);
    process.exitCode = 1;
  }
}

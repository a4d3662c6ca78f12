// Commands that are run by name. scripts/tasks.json lists them: a single command, several that run
// until one fails, or a suite outside the workspace, whose packages are too large for every user to
// download. `source` means Node with the sources of the packages.
import { createHash } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { capture, handOver, Refusal, tell } from './child.mjs';

/**
 * @typedef {import('./setup.mjs').Tools} Tools
 * @typedef {'root' | 'generate' | 'bench' | 'verify'} Group
 * @typedef {string | string[]} Commands
 * @typedef {{ install: string, fetches: string, run: Commands }} Suite
 */

/** Runs a TypeScript file against the sources of the packages. */
export const sourceFlags = ['--conditions=@cobbler/source', '--disable-warning=ExperimentalWarning'];

/** @type {Record<Group, Record<string, Commands | Suite>>} */
export const tasks = JSON.parse(readFileSync(new URL('tasks.json', import.meta.url), 'utf8'));

/** @param {Group} group */
export function taskNames(group) {
  return Object.keys(tasks[group]);
}

/**
 * @param {string} root
 * @param {Tools} tools
 * @param {Group} group
 * @param {string[]} words the name, then arguments of the last command
 * @returns {Promise<number>} the exit code
 */
export async function runTask(root, tools, group, [name = '', ...words]) {
  const task = Object.hasOwn(tasks[group], name) ? tasks[group][name] : undefined;
  if (task === undefined)
    throw new Refusal(
      `Cannot run ${group} "${name}": unknown name. Use one of: ${taskNames(group).join(', ')}.`,
    );
  const suite = typeof task === 'string' || Array.isArray(task) ? undefined : task;
  if (suite !== undefined) await installSuite(root, tools.env, suite);
  const commands = [suite?.run ?? /** @type {Commands} */ (task)].flat();
  let code = 0;
  for (const [at, command] of commands.entries()) {
    const [program = '', ...args] = command.split(' ');
    const flags = { source: sourceFlags, node: sourceFlags.slice(1) }[program] ?? [];
    const last = at === commands.length - 1 ? words : [];
    const options = { cwd: root, env: tools.env };
    code = await handOver(flags.length > 0 ? tools.node : program, [...flags, ...args, ...last], options);
    if (code !== 0) break;
  }
  return code;
}

/**
 * Installs the packages in the lockfile of a suite unless they are installed.
 * @param {string} root
 * @param {NodeJS.ProcessEnv} env
 * @param {{ install: string, fetches: string }} suite
 */
export async function installSuite(root, env, { install: place, fetches }) {
  const folder = join(root, place);
  const lock = readFileSync(join(folder, 'package-lock.json'));
  const state = createHash('sha256').update(lock).update(`${process.platform}-${process.arch}`).digest('hex');
  const stamp = join(folder, 'node_modules', '.cobbler-stamp');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  const args = ['ci', '--no-audit', '--no-fund', '--ignore-scripts', '--prefer-offline', '--loglevel=error'];
  const { code, output } = await tell(`fetching ${fetches}`, () =>
    capture('npm', args, { cwd: folder, env }),
  );
  if (code !== 0)
    throw new Refusal(
      `Cannot install ${place}: npm says:\n${output.trim().split('\n').slice(-8).join('\n')}`,
    );
  writeFileSync(stamp, state);
}

// Commands that are run by name: scripts/tasks.json says what each of them is.
import { readFileSync } from 'node:fs';
import { handOver, Refusal } from './child.mjs';

/** @typedef {'generate' | 'bench' | 'verify'} Group */

/** @type {Record<Group, Record<string, string>>} */
const tasks = JSON.parse(readFileSync(new URL('tasks.json', import.meta.url), 'utf8'));

/** @param {Group} group */
export function taskNames(group) {
  return Object.keys(tasks[group]);
}

/**
 * @param {string} root
 * @param {import('./setup.mjs').Tools} tools
 * @param {Group} group
 * @param {string[]} words the name, then what is passed on
 * @returns {Promise<number>} the exit code
 */
export function runTask(root, tools, group, [name = '', ...rest]) {
  const command = tasks[group][name];
  if (command === undefined)
    throw new Refusal(
      `Cannot run ${group} "${name}": unknown name. Use one of: ${taskNames(group).join(', ')}.`,
    );
  const [program = '', ...args] = command.split(' ');
  return handOver(program, [...args, ...rest], { cwd: root, env: tools.env });
}

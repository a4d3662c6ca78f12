// Checks the rules of house.json over the sources of the whole project and names each violation with its
// place, the rule and how to mend it.
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { RULES } from './house/rules.mjs';
import { readProject } from './house/source.mjs';

const scripts = dirname(fileURLToPath(import.meta.url));

/**
 * @param {string} root
 * @returns {import('./house/rules.mjs').Violation[]} sorted by place
 */
export function checkHouse(root) {
  const house = JSON.parse(readFileSync(join(scripts, 'house.json'), 'utf8'));
  const project = readProject(root, house.sources);
  return RULES.flatMap((rule) => [...rule(project, house)]).sort(
    (left, right) => left.path.localeCompare(right.path) || left.line - right.line,
  );
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const violations = checkHouse(process.argv[2] ?? dirname(scripts));
  for (const { path, line, rule, what, mend } of violations) {
    process.stdout.write(`${path}:${line}  ${rule}: ${what}. ${mend}\n`);
  }
  if (violations.length > 0) process.exitCode = 1;
}

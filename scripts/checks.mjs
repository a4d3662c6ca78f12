// The checks of sources and of builds. Every check runs even if an earlier one failed, so that one run shows all
// problems.
import { resolve } from 'node:path';
import { capture } from './child.mjs';

/**
 * @typedef {import('./setup.mjs').Tools} Tools
 * @typedef {{ name: string, command: string[] }} Check
 */

/** @type {Check[]} */
const SOURCE_CHECKS = [
  { name: 'lint', command: ['biome', 'check', '--error-on-warnings', '--diagnostic-level=warn', '.'] },
  {
    name: 'import rules',
    command: [
      'depcruise',
      '--config=scripts/import-rules.mjs',
      '--output-type=err-long',
      '--cache',
      ...['--cache-strategy', 'content'],
      ...['packages', 'apps', 'bench', 'examples', 'tests', 'templates', 'scripts', 'site/src', 'e2e'],
    ],
  },
  { name: 'prose', command: ['node', 'scripts/check-prose.mjs'] },
  { name: 'api', command: ['node', 'scripts/api/main.mjs', '--check'] },
  { name: 'unused code', command: ['knip', '--no-progress', '--no-config-hints', '--cache'] },
  { name: 'types', command: tsc('tsconfig.json', 'sources') },
  { name: 'types of scripts and suites', command: tsc('scripts', 'scripts') },
];

/**
 * Checks the files that have changed since the last run and those that depend on them. Each checker of tsc checks the
 * types that it meets again, and the other checks and tests use the other cores.
 * @param {string} config
 * @param {string} name
 */
function tsc(config, name) {
  const info = resolve('node_modules', '.cache', 'tsc', `${name}.tsbuildinfo`);
  return ['tsc', '-p', config, '--checkers', '1', '--incremental', '--tsBuildInfoFile', info];
}

/** @type {Check[]} */
const BUILD_CHECKS = [
  { name: 'build', command: ['turbo', 'run', 'build', '--output-logs=errors-only'] },
  { name: 'packages', command: ['turbo', 'run', 'check-package', '--output-logs=errors-only'] },
  { name: 'sizes', command: ['node', 'scripts/sizes.mjs'] },
];

/**
 * Runs the checks that need no build, in parallel. Resolves with the names of those that failed.
 * @param {string} root
 * @param {Tools} tools
 * @returns {Promise<string[]>}
 */
export async function checkSources(root, tools) {
  const failed = await Promise.all(SOURCE_CHECKS.map((check) => runCheck(check, root, tools)));
  return failed.flat();
}

/**
 * Builds every package and checks the files to publish, one check after another.
 * @param {string} root
 * @param {Tools} tools
 * @returns {Promise<string[]>} the names of the checks that failed
 */
export async function checkBuilds(root, tools) {
  /** @type {string[]} */
  const failed = [];
  for (const check of BUILD_CHECKS) {
    failed.push(...(await runCheck(check, root, tools)));
    if (failed.includes('build')) break; // Without a build, there is nothing to pack.
  }
  return failed;
}

/**
 * @param {Check} check
 * @param {string} root
 * @param {Tools} tools
 * @returns {Promise<string[]>} its name if it failed
 */
async function runCheck({ name, command }, root, tools) {
  const started = Date.now();
  const [program = '', ...args] = command;
  const { code, output } = await capture(program, args, { cwd: root, env: tools.env });
  const seconds = ((Date.now() - started) / 1000).toFixed(1);
  process.stderr.write(`cobbler: ${name} ${code === 0 ? 'ok' : 'FAILED'} (${seconds} s)\n`);
  if (code === 0) return [];
  process.stderr.write(`${output.trimEnd()}\n`);
  return [name];
}

// What `npm test` and `npm run check` run. Every check runs even when an earlier one failed, so that one run
// shows everything there is to mend.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capture, handOver } from './child.mjs';

/**
 * @typedef {import('./setup.mjs').Tools} Tools
 * @typedef {{ name: string, command: string[] }} Check
 */

/** @type {Check[]} */
const SOURCE_CHECKS = [
  { name: 'lint', command: ['biome', 'check', '--error-on-warnings', '--diagnostic-level=warn', '.'] },
  { name: 'house rules', command: ['node', 'scripts/check-house.mjs'] },
  { name: 'prose', command: ['node', 'scripts/check-prose.mjs'] },
  { name: 'api', command: ['node', 'scripts/api.mjs', '--check'] },
  { name: 'unused code', command: ['knip', '--no-progress', '--no-config-hints'] },
  { name: 'types', command: ['tsc', '-p', 'tsconfig.json'] },
  { name: 'types of scripts and suites', command: ['tsc', '-p', 'scripts'] },
];

/** @type {Check[]} */
const BUILD_CHECKS = [
  { name: 'build', command: ['turbo', 'run', 'build', '--output-logs=errors-only'] },
  { name: 'packages', command: ['turbo', 'run', 'check-package', '--output-logs=errors-only'] },
  {
    name: 'sizes',
    command: [
      'node',
      '--conditions=@cobbler/source',
      '--disable-warning=ExperimentalWarning',
      'scripts/budgets.ts',
      '--check',
    ],
  },
];

/**
 * The checks that need no build. Resolves with the names of those that failed.
 * @param {string} root
 * @param {Tools} tools
 * @returns {Promise<string[]>}
 */
export async function checkSources(root, tools) {
  const failed = await Promise.all(SOURCE_CHECKS.map((check) => runCheck(check, root, tools)));
  return failed.flat();
}

/**
 * All checks, then all tests; with arguments only the tests they choose. Prints the closing line last and
 * resolves with the exit code.
 * @param {string} root
 * @param {Tools} tools
 * @param {string[]} testArgs passed on to vitest
 * @returns {Promise<number>}
 */
export async function testAll(root, tools, testArgs) {
  const failed = testArgs.length > 0 ? [] : await checkAll(root, tools);
  const { code, counts } = await runTests(root, tools, testArgs);
  if (failed.length > 0) process.stderr.write(`cobbler: failed checks: ${failed.join(', ')} (see above)\n`);
  const failures = counts.failed + failed.length;
  for (const name of failed) process.stdout.write(`failed: the check of ${name}\n`);
  for (const failure of counts.failures) process.stdout.write(`${failure}\n`);
  process.stdout.write(`${counts.passed} passed, ${failures} failed, ${counts.skipped} skipped\n`);
  return failed.length > 0 ? 1 : code;
}

/**
 * @param {string} root
 * @param {Tools} tools
 * @returns {Promise<string[]>} the names of the checks that failed
 */
async function checkAll(root, tools) {
  const failed = await checkSources(root, tools);
  for (const check of BUILD_CHECKS) {
    failed.push(...(await runCheck(check, root, tools)));
    if (failed.includes('build')) break; // Nothing to pack.
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

/**
 * @param {string} root
 * @param {Tools} tools
 * @param {string[]} testArgs
 */
async function runTests(root, tools, testArgs) {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-test-'));
  const file = join(folder, 'counts.json');
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const env = { ...tools.env, COBBLER_COUNTS: file };
    const code = await handOver(tools.node, [vitest, 'run', ...testArgs], { cwd: root, env });
    return { code, counts: readCounts(file, code) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * A run that ends without counts (no test found, a broken configuration) is one failure.
 * @param {string} file
 * @param {number} code
 * @returns {{ passed: number, failed: number, skipped: number, failures: string[] }} `failures` are the names of what failed
 */
function readCounts(file, code) {
  try {
    const counts = JSON.parse(readFileSync(file, 'utf8'));
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } catch {
    return {
      passed: 0,
      failed: 1,
      skipped: 0,
      failures: ['failed: the run of the tests, before any was counted'],
    };
  }
}

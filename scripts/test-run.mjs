// `npm test` and the tests of `npm run verify`: runs vitest with the level of vitest.base.ts and prints the failures
// at the end.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { checkSources } from './checks.mjs';
import { capture, handOver } from './child.mjs';

/**
 * @typedef {import('./setup.mjs').Tools} Tools
 * @typedef {'quick' | 'slow' | 'full'} Level `slow` is what `quick` omits, `full` is both
 * @typedef {{ passed: number, failed: number, skipped: number, failures: string[] }} Counts
 */

/**
 * Runs the quick tests in parallel with the checks of the sources; with arguments, only the tests that they select.
 * @param {string} root
 * @param {Tools} tools
 * @param {string[]} args for vitest
 * @returns {Promise<number>} the exit code
 */
export async function testQuick(root, tools, args) {
  if (args.length > 0) return report(await runVitest(root, tools, 'quick', args), []);
  const [run, failed] = await Promise.all([runVitest(root, tools, 'quick', []), checkSources(root, tools)]);
  return report(run, failed);
}

/**
 * Prints the failures and, last, the counts.
 * @param {{ code: number, counts: Counts }} run
 * @param {string[]} failedChecks
 * @returns {number} the exit code
 */
export function report({ code, counts }, failedChecks) {
  for (const name of failedChecks) process.stdout.write(`failed: ${name} check (see above)\n`);
  for (const failure of counts.failures) process.stdout.write(`${failure}\n`);
  const failures = counts.failed + failedChecks.length;
  process.stdout.write(`${counts.passed} passed, ${failures} failed, ${counts.skipped} skipped\n`);
  return failedChecks.length > 0 ? 1 : code;
}

/**
 * @param {string} root
 * @param {Tools} tools
 * @param {Level} level
 * @param {string[]} args for vitest
 * @param {{ quiet?: boolean }} [options] with `quiet`, vitest's output is hidden
 * @returns {Promise<{ code: number, counts: Counts }>}
 */
export async function runVitest(root, tools, level, args, { quiet = false } = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-test-'));
  const file = join(folder, 'counts.json');
  try {
    const vitest = join(root, 'node_modules', 'vitest', 'vitest.mjs');
    const env = { ...tools.env, COBBLER_COUNTS: file, COBBLER_TEST_LEVEL: level };
    const options = { cwd: root, env };
    const words = [vitest, 'run', ...args];
    const code = quiet
      ? (await capture(tools.node, words, options)).code
      : await handOver(tools.node, words, options);
    return { code, counts: readCounts(file, code) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/**
 * Reads the counts. A run without counts (no test found, an invalid configuration) is one failure.
 * @param {string} file
 * @param {number} code
 * @returns {Counts}
 */
function readCounts(file, code) {
  try {
    const counts = JSON.parse(readFileSync(file, 'utf8'));
    return code !== 0 && counts.failed === 0 ? { ...counts, failed: 1 } : counts;
  } catch {
    if (code === 0) return { passed: 0, failed: 0, skipped: 0, failures: [] };
    const failures = ['failed: vitest ended before it ran a test (see above)'];
    return { passed: 0, failed: 1, skipped: 0, failures };
  }
}

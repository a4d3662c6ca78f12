// Runs what `npm test` omits:
//
//   npm run verify                       builds, package checks, sizes, and the tests in *.slow.test.ts
//   npm run verify -- NAME [WORDS]       one suite of scripts/tasks.json
//   npm run verify -- PATH ...           every test whose path matches, including slow ones
//   npm run verify -- --repeat 20 PATH   those tests 20 times; lists each failure with its round
//   npm run verify -- --all              npm test, npm run verify and every suite, with a table at the end
import { checkBuilds } from './checks.mjs';
import { handOver, Refusal } from './child.mjs';
import { runTask, taskNames } from './tasks.mjs';
import { report, runVitest } from './test-run.mjs';

/** @typedef {import('./setup.mjs').Tools} Tools */

/** The suites of `--all`, quick ones first. `crash` and `simulate` also run as slow tests. */
export const everything = [
  ['test'],
  ['run', 'verify'],
  ['run', 'bench', '--', 'sizes'],
  ['run', 'docs'],
  ['run', 'release', '--', '--dry'],
  ...['docs', 'packed', 'worker', 'clis', 'faces', 'scale'].map((name) => ['run', 'verify', '--', name]),
];

/**
 * @param {string} root
 * @param {Tools} tools
 * @param {string[]} words
 * @returns {Promise<number>} the exit code
 */
export async function verify(root, tools, words) {
  const [first, ...rest] = words;
  if (first === undefined) {
    const failed = await checkBuilds(root, tools);
    return report(await runVitest(root, tools, 'slow', []), failed);
  }
  if (first === '--all' && rest.length === 0) return verifyAll(root);
  if (first === '--repeat') return repeat(root, tools, rest);
  if (taskNames('verify').includes(first)) return runTask(root, tools, 'verify', words);
  return report(await runVitest(root, tools, 'full', words), []);
}

/**
 * @param {string} root
 * @param {Tools} tools
 * @param {string[]} words the number of rounds, then the tests
 */
async function repeat(root, tools, [count = '', ...paths]) {
  const rounds = Number(count);
  if (!Number.isSafeInteger(rounds) || rounds < 1 || paths.length === 0)
    throw new Refusal(
      `Cannot repeat tests: ${count === '' ? 'the number is missing' : `got "${[count, ...paths].join(' ')}"`}. ` +
        'Use a number and a path, such as: npm run verify -- --repeat 20 packages/tools/test/walk.test.ts',
    );
  /** @type {string[]} */
  const failures = [];
  let broken = 0;
  for (let round = 1; round <= rounds; round += 1) {
    const { code, counts } = await runVitest(root, tools, 'full', paths, { quiet: true });
    process.stdout.write(`round ${round}: ${counts.passed} passed, ${counts.failed} failed\n`);
    if (code !== 0) broken += 1;
    const found = counts.failures.map((failure) => `round ${round}: ${failure}`);
    if (found.length > 0) process.stdout.write(`${found.join('\n')}\n`);
    failures.push(...found);
  }
  if (failures.length > 0) process.stdout.write(`\n${failures.join('\n')}\n`);
  process.stdout.write(`${rounds - broken} of ${rounds} rounds passed\n`);
  return broken > 0 ? 1 : 0;
}

/** @param {string} root */
async function verifyAll(root) {
  /** @type {{ name: string, passed: boolean, seconds: number }[]} */
  const verdicts = [];
  for (const args of everything) {
    const name = ['npm', ...args].join(' ');
    process.stdout.write(`\nverify: ${name}\n`);
    const started = performance.now();
    const code = await handOver('npm', args, { cwd: root, env: process.env });
    verdicts.push({ name, passed: code === 0, seconds: (performance.now() - started) / 1000 });
  }
  const lines = verdicts.map(
    ({ name, passed, seconds }) =>
      `${name.padEnd(28)} ${passed ? 'passed' : 'FAILED'} ${seconds.toFixed(0).padStart(6)} s`,
  );
  process.stdout.write(`\n${lines.join('\n')}\n`);
  const failed = verdicts.filter(({ passed }) => !passed);
  if (failed.length > 0)
    process.stdout.write(`verify: failed, see above: ${failed.map(({ name }) => name).join(', ')}\n`);
  process.stdout.write(`${verdicts.length - failed.length} passed, ${failed.length} failed, 0 skipped\n`);
  return failed.length > 0 ? 1 : 0;
}

// What CI does: npm run verify, which is npm test. With --all every other suite too, one after another, each in its own
// process, and a table at the end. A suite that cannot run here says why where it stands, and counts as failed.
import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver } from './child.mjs';
import { suites } from './verify-suites.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** @typedef {{ name: string, passed: boolean, seconds: number }} Verdict */

const words = process.argv.slice(2);
if (words.some((word) => word !== '--all')) {
  process.stderr.write('verify: use npm run verify, or npm run verify -- --all\n');
  process.exitCode = 1;
} else {
  process.exitCode = words.length === 0 ? await npm(['test']) : await verifyAll();
}

async function verifyAll() {
  const verdicts = [await verdict('test', ['test'])];
  for (const name of suites) verdicts.push(await verdict(name, ['run', name]));
  const lines = verdicts.map(
    ({ name, passed, seconds }) =>
      `${name.padEnd(14)} ${passed ? 'passed' : 'FAILED'} ${seconds.toFixed(0).padStart(6)} s`,
  );
  process.stdout.write(`\n${lines.join('\n')}\n`);
  const failed = verdicts.filter(({ passed }) => !passed).map(({ name }) => name);
  if (failed.length > 0)
    process.stdout.write(`verify: FAILED OR COULD NOT RUN, see above: ${failed.join(', ')}\n`);
  process.stdout.write(`${verdicts.length - failed.length} passed, ${failed.length} failed, 0 skipped\n`);
  return failed.length > 0 ? 1 : 0;
}

/**
 * @param {string} name
 * @param {string[]} args
 * @returns {Promise<Verdict>}
 */
async function verdict(name, args) {
  process.stdout.write(`\nverify: npm ${args.join(' ')}\n`);
  const started = performance.now();
  const code = await npm(args);
  return { name, passed: code === 0, seconds: (performance.now() - started) / 1000 };
}

/** @param {string[]} args */
function npm(args) {
  return handOver('npm', args, { cwd: root, env: process.env });
}

// Runs tests on a bench to find out whether any fails. Each probe is a separate process in its own process group, so
// that neither a crash nor a mutant that never ends affects the next one.
import { spawn } from 'node:child_process';
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/**
 * Time limits in milliseconds, after which a test or case, or the whole probe, counts as hanging. The slowest test
 * takes about a second on an idle machine.
 * @typedef {{ each: number, all: number }} Patience
 */

/** @type {Patience} */
export const defaultPatience = { each: 8_000, all: 60_000 };

/** Time limits for the tests of all mutants together, whose failure would stop the whole run. */
export const longPatience = { each: 60_000, all: 300_000 };

const here = dirname(fileURLToPath(import.meta.url));
const vitest = join(here, '../../../node_modules/vitest/vitest.mjs');

const groups = new Set();

/** Ends all running probes, when the command itself is stopped. */
export function endProbes() {
  for (const group of groups) endGroup(group);
}

/**
 * @typedef {object} Failure
 * @property {string[]} tests full names of the failed tests; several if it is unknown which of them crashed
 * @property {string} message
 * @property {boolean} hung true if no test failed but one did not end in time
 */

/**
 * @typedef {object} Finding
 * @property {string[]} taken full names of the selected tests; empty if they could not be loaded
 * @property {string} [error] why nothing could run
 * @property {Failure} [failure] absent if everything passes
 */

/**
 * Runs the contract cases whose names start with one of the words, those that match the pattern first.
 * @returns {Promise<Finding>}
 */
export async function probeCases(bench, home, beginnings, pattern, patience = defaultPatience) {
  const args = [
    '--conditions=@cobbler/source',
    join(here, 'cases.mjs'),
    JSON.stringify(beginnings),
    pattern,
    `${patience.each}`,
  ];
  const { code, out, err, late } = await run(args, bench.home(home), bench.cache, patience);
  const facts = out
    .split('\n')
    .filter((line) => line.startsWith('{"'))
    .map((line) => JSON.parse(line));
  const taken = facts.find((fact) => fact.taken !== undefined)?.taken ?? [];
  if (code === 0 || taken.length === 0) return { taken, ...(code !== 0 && { error: lastOf(err) }) };
  const failed = facts.find((fact) => fact.failed !== undefined);
  if (failed !== undefined)
    return { taken, failure: { tests: [failed.failed], message: failed.message, hung: failed.hung } };
  const ended = facts.map((fact) => fact.ended);
  const open = facts.map((fact) => fact.began).filter((name) => name !== undefined && !ended.includes(name));
  return {
    taken,
    failure: { tests: open, message: late ? 'did not end' : `a crash: ${lastOf(err)}`, hung: late },
  };
}

/**
 * Runs files of unit tests until one test fails; with a pattern, only the tests whose names match it.
 * @returns {Promise<Finding>}
 */
export async function probeUnits(bench, home, files, pattern, patience = defaultPatience) {
  const report = join(bench.home(home), 'report.json');
  await rm(report, { force: true });
  const flags = [
    '--reporter=json',
    `--outputFile=${report}`,
    '--bail=1',
    `--testTimeout=${patience.each}`,
    `--testNamePattern=${pattern || '.'}`,
  ];
  const args = [vitest, 'run', ...flags, ...files];
  const { code, out, err, late } = await run(args, bench.home(home), bench.cache, patience);
  const tests = await testsIn(report);
  const taken = tests.filter(({ status }) => status !== 'skipped').map(({ name }) => name);
  if (late) return { taken, failure: { tests: [], message: 'did not end', hung: true } };
  if (code === 0 || tests.length === 0) return { taken, ...(code !== 0 && { error: lastOf(err) }) };
  const failed = tests.find(({ status }) => status === 'failed');
  if (failed === undefined)
    return { taken, failure: { tests: taken, message: `a crash: ${lastOf(err || out)}`, hung: false } };
  const hung = /timed out in \d+ ?ms/.test(failed.message);
  return { taken, failure: { tests: [failed.name], message: failed.message, hung } };
}

async function testsIn(report) {
  const text = await readFile(report, 'utf8').catch(() => '{"testResults":[]}');
  return JSON.parse(text).testResults.flatMap(({ name, assertionResults }) =>
    assertionResults.map(({ fullName, status, failureMessages }) => ({
      name: `${name.slice(name.lastIndexOf('/test/') + 1)}: ${fullName}`,
      status: status === 'pending' ? 'skipped' : status,
      message: failureMessages.join(' '),
    })),
  );
}

function run(args, cwd, cache, patience) {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, CI: '1', NO_COLOR: '1', NODE_COMPILE_CACHE: cache },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  });
  groups.add(child.pid);
  const texts = { out: '', err: '' };
  child.stdout.setEncoding('utf8').on('data', (text) => {
    texts.out += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text) => {
    texts.err += text;
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    endGroup(child.pid);
  }, patience.all);
  return new Promise((settle) => {
    child.on('close', (code) => {
      clearTimeout(timer);
      endGroup(child.pid);
      groups.delete(child.pid);
      settle({ code, ...texts, late });
    });
  });
}

function endGroup(pid) {
  try {
    process.kill(-pid, 'SIGKILL');
  } catch {}
}

function lastOf(text) {
  const lines = text.split('\n').filter((line) => /\w/.test(line) && !/^\s+at /.test(line));
  return lines.slice(-4).join(' ').slice(0, 240) || 'no error message';
}

import { writeFileSync } from 'node:fs';
import { stripVTControlCharacters } from 'node:util';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

interface Skip {
  name: string;
  /** Printed after the name. Empty if the name has the reason; undefined if the test gives none. */
  reason: string | undefined;
}

/** Maximum number of failed tests to name at the end of the output. */
const namedFailures = 50;

/**
 * Prints each skipped test with its reason, each failed test with the first line of its error and, as the very last
 * line of the run, `N passed, N failed, N skipped`. A file that cannot be loaded, an error outside of any test and a
 * test that is skipped without a reason count as failed. If COBBLER_COUNTS is set, counts and names are written to that file instead, and the caller prints
 * them.
 */
export default class ClosingLine implements Reporter {
  #filtered = false;

  onInit(vitest: Vitest): void {
    this.#filtered = vitest.config.testNamePattern !== undefined;
  }

  onTestRunStart(specifications: readonly TestSpecification[]): void {
    this.#filtered ||= specifications.some((specification) => specification.testLines !== undefined);
  }

  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const counts: Counts = { passed: 0, failed: 0, skipped: 0 };
    const skips: Skip[] = [];
    const failures = unhandled.map((error) => failed('outside of any test', error));
    for (const module of modules) {
      const { relativeModuleId } = module;
      const nodes = [module, ...module.children.allSuites()];
      for (const error of nodes.flatMap((node) => node.errors()))
        failures.push(failed(relativeModuleId, error));
      for (const test of module.children.allTests()) count(test, counts, skips, failures);
    }
    // A name filter skips tests too, without a reason. They are not listed either.
    if (!this.#filtered)
      failures.push(...skips.filter(({ reason }) => reason === undefined).map(unexplained));
    counts.failed = failures.length;
    if (counts.failed > 0) process.exitCode = 1;
    const lines = skips.map(({ name, reason }) => `skipped: ${name}${reason ?? ''}\n`).sort();
    if (!this.#filtered) for (const line of lines) process.stdout.write(line);
    const path = process.env.COBBLER_COUNTS;
    if (path) {
      writeFileSync(path, JSON.stringify({ ...counts, failures: failures.slice(0, namedFailures) }));
      return;
    }
    // Other reporters and the shutdown may still print, so wait for the exit.
    process.once('exit', () => {
      for (const failure of failures.slice(0, namedFailures)) process.stdout.write(`${failure}\n`);
      process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
    });
  }
}

function count(test: TestCase, counts: Counts, skips: Skip[], failures: string[]): void {
  const result = test.result();
  const name = `${test.module.relativeModuleId} > ${test.fullName}`;
  if (result.state === 'passed') counts.passed += 1;
  else if (result.state === 'skipped') {
    counts.skipped += 1;
    const named = /\((needs|skipped:) [^)]+\)/.test(name) ? '' : undefined;
    skips.push({ name, reason: result.note === undefined ? named : ` (${result.note})` });
  } else failures.push(failed(name, result.errors?.[0] ?? 'still running when the run ended'));
}

function unexplained({ name }: Skip): string {
  return failed(
    name,
    "skipped without a reason: call context.skip(reason), or write '(needs …)' in the name",
  );
}

function failed(name: string, error: unknown): string {
  const message = typeof error === 'object' && error !== null && 'message' in error ? error.message : error;
  return `failed: ${name} (${stripVTControlCharacters(String(message)).split('\n', 1)[0]})`;
}

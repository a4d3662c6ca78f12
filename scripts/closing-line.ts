import { writeFileSync } from 'node:fs';
import type { Reporter, TestCase, TestModule, TestSpecification, Vitest } from 'vitest/node';

interface Counts {
  passed: number;
  failed: number;
  skipped: number;
}

/**
 * Prints each skipped test with its reason and, as the very last line of the run,
 * `N passed, N failed, N skipped`. A file that cannot be loaded and an error outside of any test count
 * as failed. With COBBLER_COUNTS set the counts go to that file instead: the caller has the last word.
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
    const counts: Counts = { passed: 0, failed: unhandled.length, skipped: 0 };
    const skips: string[] = [];
    for (const module of modules) {
      counts.failed += module.errors().length;
      for (const suite of module.children.allSuites()) counts.failed += suite.errors().length;
      for (const test of module.children.allTests()) count(test, counts, skips);
    }
    // A name or line filter skips everything it leaves out: no list of those.
    if (!this.#filtered) for (const skip of skips.sort()) process.stdout.write(`${skip}\n`);
    const path = process.env.COBBLER_COUNTS;
    if (path) {
      writeFileSync(path, JSON.stringify(counts));
      return;
    }
    // Other reporters and the shutdown may still print: wait for the exit.
    process.once('exit', () => {
      process.stdout.write(`${counts.passed} passed, ${counts.failed} failed, ${counts.skipped} skipped\n`);
    });
  }
}

function count(test: TestCase, counts: Counts, skips: string[]): void {
  const result = test.result();
  if (result.state === 'passed') counts.passed += 1;
  else if (result.state === 'skipped') {
    counts.skipped += 1;
    skips.push(`skipped: ${test.project.name} > ${test.fullName} (${result.note ?? 'no reason given'})`);
  } else counts.failed += 1; // A test still pending when the run ended did not pass.
}

import type { Reporter, TestModule } from 'vitest/node';

/** Prints the number of passed cases for each contract and each part of the app, and why some were off. */
export default class Counts implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const lines = modules.flatMap((module) => [...module.children.suites()].map(lineOf));
    process.stdout.write(`\n${lines.join('\n')}\n`);
  }
}

type Suite = ReturnType<TestModule['children']['suites']> extends Iterable<infer One> ? One : never;

function lineOf(suite: Suite): string {
  const results = [...suite.children.allTests()].map((test) => test.result());
  const off = results.filter(({ state }) => state === 'skipped');
  const passed = results.filter(({ state }) => state === 'passed').length;
  const reasons = Map.groupBy(off, (result) => ('note' in result && result.note) || 'not selected');
  const told = [...reasons].map(([reason, members]) => `  off ${members.length} (${reason})`).join('');
  return `${suite.name.padEnd(48)} ${`${passed}/${results.length - off.length}`.padStart(8)}${told}`;
}

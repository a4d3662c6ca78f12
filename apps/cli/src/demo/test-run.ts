/** The result of a run of `node --test`. */
export interface TestRun {
  readonly ok: boolean;
  readonly passed: number;
  /** Names of the tests that failed, each once. */
  readonly failed: readonly string[];
  /** Files with a failing test, relative to where the tests ran. */
  readonly files: readonly string[];
}

/**
 * Reads the output of `node --test` in both formats that Node prints without a terminal: TAP up to version 22, `spec`
 * later. Undefined if it is not test output.
 */
export function readTestRun(output: string): TestRun | undefined {
  const passed = /^(?:#|ℹ) pass (\d+)$/m.exec(output)?.[1];
  const failedCount = /^(?:#|ℹ) fail (\d+)$/m.exec(output)?.[1];
  if (passed === undefined || failedCount === undefined) return undefined;
  const names = [
    ...output.matchAll(/^\s*not ok \d+ - (.+)$/gm),
    ...output.matchAll(/^\s*✖ (.+) \(\d[\d.]*ms\)$/gm),
  ].map((match) => match[1] ?? '');
  const places = [
    ...output.matchAll(/^\s*location: '(?:.*[\\/])?(test[\\/][^:']+):\d+:\d+'$/gm),
    ...output.matchAll(/^test at (.+):\d+:\d+$/gm),
  ].map((match) => (match[1] ?? '').replaceAll('\\', '/'));
  return {
    ok: Number(failedCount) === 0,
    passed: Number(passed),
    failed: [...new Set(names)],
    files: [...new Set(places)],
  };
}

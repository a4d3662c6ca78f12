import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { followedPages } from '../e2e/docs/src/documents.ts';
import { wholeProgramsOf, writePrograms } from '../e2e/docs/src/programs.ts';

const root = join(import.meta.dirname, '..');

test('every program in the documents type-checks without changes', { timeout: 60_000 }, async () => {
  const { programs, config, dispose } = writePrograms(root, followedPages(root).flatMap(wholeProgramsOf));
  onTestFinished(dispose);
  expect(programs.length).toBeGreaterThan(10);
  const tsc = join(root, 'node_modules/.bin/tsc');
  const { stdout } = await promisify(execFile)(tsc, ['-p', config, '--pretty', 'false'], {
    cwd: root,
  }).catch((error: { stdout: string }) => error);
  expect(inPages(stdout)).toBe('');
});

/** Returns the compiler output with the name of the page instead of the generated file. */
function inPages(output: string): string {
  return output.replaceAll(/^\S*\.docs-programs\/(\S+?)-md-\d+\.ts/gm, '$1.md');
}

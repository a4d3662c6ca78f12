import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { checkProse } from '../check-prose.mjs';

/** Returns `path:line words` for each match in planted files above the allowed number. */
function found(files: Record<string, string>, allowed: Record<string, number> = {}): string[] {
  const root = mkdtempSync(join(tmpdir(), 'cobbler-prose-'));
  onTestFinished(() => rmSync(root, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  const { failed } = checkProse(root, allowed);
  return [...failed.values()].flat().map(({ path, line, words }) => `${path}:${line} ${words}`);
}

test('reports a phrase in a document with its line, even across a line break', () => {
  const text = '# A page\n\nThe run goes on.\nThere are none. It is\nno tool.\n';
  expect(found({ 'README.md': text, 'docs/decisions/0001-a.md': 'It shall run.' })).toEqual([
    'README.md:4 is no tool',
    'README.md:3 goes on',
    'docs/decisions/0001-a.md:1 shall',
  ]);
});

test('reads strings, templates and JSX text of two or more words, and skips names and comments', () => {
  const code = [
    '// nobody reads this comment',
    "const kind = 'nobody';",
    "const one = 'nobody is here';",
    'const two = `${kind} was told a thing`;',
    'const three = <p title="a">Go on with it</p>;',
  ].join('\n');
  expect(found({ 'apps/web/src/a.tsx': code })).toEqual([
    'apps/web/src/a.tsx:3 nobody',
    'apps/web/src/a.tsx:4 was told',
    'apps/web/src/a.tsx:5 Go on',
  ]);
});

test('skips single words in backticks, which a document mentions without using them', () => {
  expect(found({ 'docs/a.md': 'Renames `mend`.\n`nobody` and nobody' })).toEqual(['docs/a.md:2 nobody']);
});

test('skips demo and fixture text', () => {
  const code = "export const said = 'nobody is here';";
  expect(found({ 'apps/cli/src/demo/a.ts': code, 'packages/a/src/fixtures/a.ts': code })).toEqual([]);
});

test('accepts the allowed number of matches in an area, but not one more', () => {
  const files = { 'docs/decisions/1.md': 'nobody', 'docs/decisions/2.md': 'somebody' };
  expect(found(files, { 'docs/decisions/': 2 })).toEqual([]);
  expect(found(files, { 'docs/decisions/': 1 })).toHaveLength(2);
});

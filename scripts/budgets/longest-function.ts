import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { capture } from '../child.mjs';
import type { Longest } from './shape.ts';

/** Shorter functions are not looked at. */
const least = 20;

const folders = ['packages', 'apps', 'scripts', 'bench', 'examples'];

/** The longest function outside of tests, as the linter counts lines that holds functions to their limit. */
export async function maxFunction(root: string): Promise<Longest> {
  const home = mkdtempSync(join(tmpdir(), 'cobbler-lines-'));
  try {
    const options = { maxLines: least, skipBlankLines: false };
    const rules = {
      preset: 'none',
      complexity: { noExcessiveLinesPerFunction: { level: 'error', options } },
    };
    writeFileSync(join(home, 'biome.json'), JSON.stringify({ root: true, linter: { rules } }));
    const args = ['lint', `--config-path=${home}`, '--reporter=github', '--max-diagnostics=none', ...folders];
    const { output } = await capture('biome', args, { cwd: root, env: process.env });
    const { lines, place } = maxIn(output);
    return { lines, place: relative(root, place) };
  } finally {
    rmSync(home, { recursive: true, force: true });
  }
}

/** What the linter's annotations say of functions; `::error title=...,file=...,line=...::... (lines) ...` each. */
export function maxIn(output: string): Longest {
  const pattern = /^::error .*file=([^,]+),line=(\d+).*::This function has too many lines \((\d+)\)/gm;
  let longest: Longest = { lines: 0, place: 'none' };
  for (const [, file = '', line = '', count = ''] of output.matchAll(pattern)) {
    const isOwn = !/(^|\/)(test|faces|fixtures|dist|node_modules)\//.test(file);
    if (isOwn && Number(count) > longest.lines) longest = { lines: Number(count), place: `${file}:${line}` };
  }
  return longest;
}

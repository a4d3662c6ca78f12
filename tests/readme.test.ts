import { execFileSync } from 'node:child_process';
import { globSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';

const root = join(import.meta.dirname, '..');
const readme = readFileSync(join(root, 'README.md'), 'utf8');
const blocks = [...readme.matchAll(/```ts\n([\s\S]*?)```/g)].map((match) => match[1] ?? '');
const printed = /It prints `([^`]+)`/.exec(readme)?.[1];

describe('the README', () => {
  it('starts with a sentence about Cobbler and shows npm start in the first 15 lines', () => {
    const lines = readme.split('\n');
    expect(lines[2]).toMatch(/^Cobbler /);
    expect(lines.slice(0, 15).join('\n')).toContain('npm start');
  });

  it('shows a program of at most twelve lines, which prints the stated output without a key', () => {
    const [code = ''] = blocks;
    expect(code.split('\n').filter((line) => line !== '').length).toBeLessThanOrEqual(12);
    const file = fileURLToPath(new URL('./.readme-example.ts', import.meta.url));
    writeFileSync(file, code);
    try {
      const { PATH, HOME } = process.env;
      const output = execFileSync(process.execPath, ['--conditions=@cobbler/source', file], {
        env: { PATH, HOME },
        encoding: 'utf8',
      });
      expect(output.trim()).toBe(printed);
    } finally {
      rmSync(file, { force: true });
    }
  });

  it('names every published package', () => {
    const manifests = globSync('{packages,apps}/*/package.json', { cwd: root }).map(
      (path) => JSON.parse(readFileSync(join(root, path), 'utf8')) as { name: string; private?: boolean },
    );
    // The README does not list packages that `npm run new` creates.
    const published = manifests
      .filter((manifest) => manifest.private !== true && !/\/(channel|provider|store)-/.test(manifest.name))
      .map(({ name }) => name);
    expect(published.length).toBeGreaterThan(4);
    expect(published.filter((name) => !readme.includes(`\`${name}\``))).toEqual([]);
  });

  it('has fewer than 160 lines', () => {
    expect(readme.trimEnd().split('\n').length).toBeLessThan(160);
  });
});

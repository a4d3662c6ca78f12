import { randomBytes } from 'node:crypto';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { reachedFrom, reachedIn, sizesOf } from '../src/size.ts';

/** Creates a directory with these files. */
function planted(files: Record<string, string>): string {
  const folder = mkdtempSync(join(tmpdir(), 'cobbler-size-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
  return folder;
}

/** Returns text that compression cannot shorten much. */
const noise = (bytes: number) => randomBytes(bytes).toString('base64');

const packed = (name: string, text: string) => ({
  [`node_modules/${name}/package.json`]: JSON.stringify({ name, type: 'module', exports: './index.js' }),
  [`node_modules/${name}/index.js`]: text,
});

test('the size of a program is that of its imports, without unused code, at the start and later', async () => {
  const unused = `export const unused = ${JSON.stringify(noise(5000))};`;
  const folder = planted({
    ...packed('@cobbler/agent', `${unused}\nexport function defineTool() {}\nexport class Executor {}`),
    ...packed(
      '@cobbler/provider-claude',
      "import '@anthropic-ai/sdk';\nexport const createClaude = () => import('./late.js');",
    ),
    'node_modules/@cobbler/provider-claude/late.js': `export const late = ${JSON.stringify(noise(400))};`,
    ...packed('@anthropic-ai/sdk', `globalThis.sdk = ${JSON.stringify(noise(9000))};`),
  });
  const [own, whole] = await sizesOf(['cobbler', 'cobbler-and-sdk', 'floor'], folder);
  expect(own).toMatchObject({ entrant: 'cobbler' });
  expect(own?.gzipBytes).toBeLessThan(500);
  expect(own?.laterBytes).toBeGreaterThan(250);
  expect(whole?.gzipBytes).toBeGreaterThan(5000);
});

test('each package that an entry loads is listed with whether it is loaded lazily', async () => {
  const folder = planted({
    ...packed('entry', "import 'eager'; export const late = () => import('late'); export const both = 1;"),
    ...packed('eager', "import 'deeper'; export const again = () => import('deeper');"),
    ...packed('deeper', 'export const deep = 1;'),
    ...packed('late', "import 'later';"),
    ...packed('later', 'export const later = 1;'),
  });
  expect(await reachedFrom('entry', folder)).toEqual([
    { name: 'deeper', lazily: false },
    { name: 'eager', lazily: false },
    { name: 'late', lazily: true },
    { name: 'later', lazily: true },
  ]);
});

test('files of the workspace do not count as a loaded package', () => {
  const inputs = {
    '<stdin>': {
      bytes: 1,
      imports: [{ path: '../packages/agent/dist/index.js', kind: 'import-statement' as const }],
    },
    '../packages/agent/dist/index.js': { bytes: 1, imports: [] },
  };
  expect(reachedIn({ inputs }, '@cobbler/agent')).toEqual([]);
});

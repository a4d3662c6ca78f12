import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { apiFiles, differences, undocumented } from '../api/main.mjs';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'cobbler-api-'));

afterAll(() => rmSync(home, { recursive: true, force: true }));

/** Writes these files as the only sources of the tools package. */
function plant(files: Record<string, string>): void {
  rmSync(home, { recursive: true, force: true });
  for (const manifest of globSync('{packages,apps}/*/package.json', { cwd: root }))
    cpSync(join(root, manifest), join(home, manifest));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, 'packages/tools/src', path)), { recursive: true });
    writeFileSync(join(home, 'packages/tools/src', path), text);
  }
}

/** Returns the API of the tools package with these files as its sources. */
function offered(files: Record<string, string>): string | undefined {
  plant(files);
  return apiFiles(home).get('packages/tools/api.md');
}

test('describes a declaration without bodies, private members and comments', () => {
  const text = offered({
    'index.ts': `
      import type { Inner } from './inner.ts';
      /** A. */
      export class A<T> extends Map<string, T> implements Inner {
        /** Seen. */
        readonly seen: number = 1;
        #hidden = 2;
        private also = 3;
        static of(value: string): A<string> { return new A(); }
        get size(): number { return this.#hidden + this.also; }
      }
      /** F. */
      export async function f(a: string, /* why */ b: number = 4): Promise<void> { await a; }
      /** C. */
      export const c: (a: string) => void = (a) => { f(a); };
      /** D. */
      export const d = 4096;`,
    'inner.ts': '',
  });
  const lines = text?.split('\n').map((line) => line.trim());
  expect(lines?.slice((lines?.indexOf('```ts') ?? 0) + 1, -2)).toEqual([
    'class A<T> extends Map<string, T> implements Inner {',
    'readonly seen: number;',
    'static of(value: string): A<string>;',
    'get size(): number;',
    '}',
    '',
    'const c: (a: string) => void;',
    '',
    'const d = 4096;',
    '',
    'async function f(a: string,  b: number = 4): Promise<void>;',
  ]);
});

test('declares an export that two entries share only once', () => {
  const text = offered({
    'index.ts': "export { a } from './a.ts';",
    'mcp/index.ts': "export { a as b } from '../a.ts';",
    'a.ts': '/** A. */\nexport const a: number = 1;',
  });
  expect(text?.match(/^const .*|.* \/\/ .*$/gm)).toEqual(['const a: number;', 'b // a of @cobbler/tools']);
});

test('lists differences by declaration', () => {
  const before = offered({ 'index.ts': '/** */\nexport const a: 1 = 1;\nexport const b: 2 = 2;' }) ?? '';
  const after = offered({ 'index.ts': '/** */\nexport const a: 1 = 1;\nexport const c: 2 = 2;' }) ?? '';
  expect(differences(before, after)).toEqual(['- const b: 2;', '+ const c: 2;']);
  expect(differences(before, before)).toEqual([]);
});

describe('an export without a doc comment', () => {
  test('is reported where it is declared, through re-exports', () => {
    plant({
      'index.ts': "export * from './a.ts';\nexport { B as C } from './b.ts';\n",
      'a.ts': '/** One. */\nexport const one = 1;\n\n// two\nexport const two = 2;\n',
      'b.ts': '/** */\nexport type B = string;\nexport type Inner = B;\n',
    });
    expect(undocumented(home)).toEqual([
      'packages/tools/src/b.ts:2  C of @cobbler/tools has no doc comment',
      'packages/tools/src/a.ts:5  two of @cobbler/tools has no doc comment',
    ]);
  });

  test('is accepted if another overload has one, but not if only another declaration has one', () => {
    plant({
      'index.ts': [
        '/** f */\nexport function f(a: string): void;',
        'export function f(a: number): void;',
        'export function f(a: unknown): void {}',
        '/** not for g */\nconst inner = 1;\nexport const g = inner;',
      ].join('\n'),
      'inner.ts': 'export const a = 1;',
    });
    expect(undocumented(home)).toEqual([
      'packages/tools/src/index.ts:7  g of @cobbler/tools has no doc comment',
    ]);
  });
});

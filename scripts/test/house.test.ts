import { spawnSync } from 'node:child_process';
import { cpSync, globSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { checkHouse } from '../check-house.mjs';

const root = join(import.meta.dirname, '../..');
const scratch = mkdtempSync(join(tmpdir(), 'cobbler-house-'));
let count = 0;

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

/** A project with the real manifests and the given files as its only sources. */
function plant(files: Record<string, string>): string {
  count += 1;
  const home = join(scratch, String(count));
  for (const manifest of globSync('{packages,apps}/*/package.json', { cwd: root })) {
    cpSync(join(root, manifest), join(home, manifest));
  }
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  return home;
}

/** What the check says about the planted files, as `path:line rule`. */
function found(files: Record<string, string>): string[] {
  return checkHouse(plant(files)).map(({ path, line, rule }) => `${path}:${line} ${rule}`);
}

const AGENT = 'packages/agent/src';
const CLAUDE = 'packages/provider-claude';

describe('packages', () => {
  test('a leaf that imports another leaf is named', () => {
    expect(
      found({ [`${CLAUDE}/src/index.ts`]: "\nimport 'openai-like';\nimport '@cobbler/tools';\n" }),
    ).toEqual([
      `${CLAUDE}/src/index.ts:2 declared dependencies`,
      `${CLAUDE}/src/index.ts:3 package direction`,
      `${CLAUDE}/src/index.ts:3 declared dependencies`,
    ]);
  });

  test('the core imports no leaf, not even a type', () => {
    expect(
      found({ [`${AGENT}/index.ts`]: "import type { Tool } from '@cobbler/tools';\nexport type T = Tool;" }),
    ).toContain(`${AGENT}/index.ts:1 package direction`);
  });

  test('a test of a leaf may import the ./testing of a provider and nothing else of it', () => {
    expect(
      found({
        'packages/tools/test/a.test.ts':
          "import '@cobbler/provider-claude/testing';\nimport '@cobbler/provider-claude';",
      }),
    ).toEqual(['packages/tools/test/a.test.ts:2 package direction']);
  });

  test('a relative path into another package is named', () => {
    expect(found({ 'packages/tools/src/index.ts': "export * from '../../agent/src/tool.ts';" })).toEqual([
      'packages/tools/src/index.ts:1 package direction',
    ]);
  });

  test('an app imports every package', () => {
    expect(
      found({
        'apps/cli/src/main.ts':
          "import '@cobbler/agent/node';\nimport '@cobbler/tools';\nimport 'commander';",
      }),
    ).toEqual([]);
  });

  test('only a package that is bundled may live on devDependencies', () => {
    const manifest = JSON.stringify({ name: '@cobbler/tools', devDependencies: { commander: '15.1.0' } });
    expect(
      found({
        'packages/tools/package.json': manifest,
        'packages/tools/src/index.ts': "import 'commander';",
      }),
    ).toEqual(['packages/tools/src/index.ts:1 declared dependencies']);
  });
});

describe('layers of the core', () => {
  test('a file that imports from above is named, type imports included', () => {
    expect(
      found({
        [`${AGENT}/values/usage.ts`]:
          "import type { Agent } from '../interfaces/agent.ts';\nexport type U = Agent;",
        [`${AGENT}/interfaces/agent.ts`]: 'export interface Agent { name: string }',
      }),
    ).toEqual([`${AGENT}/values/usage.ts:1 layers`]);
  });

  test('a file without a place in the order is named', () => {
    expect(found({ [`${AGENT}/surprise.ts`]: 'export const a = 1;' })).toEqual([
      `${AGENT}/surprise.ts:1 layers`,
    ]);
  });

  test('a type import written inside an expression counts', () => {
    expect(
      found({
        [`${AGENT}/values/usage.ts`]: "export type U = import('../interfaces/agent.ts').Agent;",
        [`${AGENT}/interfaces/agent.ts`]: 'export interface Agent { name: string }',
      }),
    ).toEqual([`${AGENT}/values/usage.ts:1 layers`]);
  });

  test('decide reaches perform through another file', () => {
    const violations = found({
      [`${AGENT}/loop/decide.ts`]: "export * from '../events/state.ts';",
      [`${AGENT}/events/state.ts`]: "\nexport * from '../values/runtime.ts';",
      [`${AGENT}/values/runtime.ts`]: 'export const a = 1;',
    });
    expect(violations).toEqual([`${AGENT}/events/state.ts:2 purity`]);
  });

  test('decide waits for nothing and fits one screen', () => {
    const text = `// await is fine in a comment\n${'\n'.repeat(80)}export async function decide() {}\n`;
    expect(found({ [`${AGENT}/loop/decide.ts`]: text })).toEqual([
      `${AGENT}/loop/decide.ts:71 purity`,
      `${AGENT}/loop/decide.ts:82 purity`,
    ]);
  });
});

describe('import cycles', () => {
  test('a cycle closed by a type import is named once, with its way', () => {
    const home = plant({
      'packages/tools/src/a.ts': "import { b } from './b.ts';\nexport const a = b;\nexport type A = 1;",
      'packages/tools/src/b.ts': "export * from './c.ts';\nexport const b = 1;",
      'packages/tools/src/c.ts': "import type { A } from './a.ts';\nexport type C = A;",
    });
    const violations = checkHouse(home);
    expect(violations.map(({ rule }) => rule)).toEqual(['import cycle']);
    expect(violations[0]?.what).toBe(
      'packages/tools/src/a.ts -> packages/tools/src/b.ts -> packages/tools/src/c.ts -> packages/tools/src/a.ts',
    );
  });

  test('a cycle through the package name or through #transport is a cycle', () => {
    expect(
      found({
        [`${AGENT}/provider/index.ts`]: "export { send } from '#transport';",
        [`${AGENT}/provider/http/fetch-transport.ts`]: '/** Sends. */\nexport const send = 1;',
        [`${AGENT}/node/transport.ts`]:
          "import type { X } from '@cobbler/agent/provider';\nexport type Y = X;",
      }),
    ).toEqual([`${AGENT}/provider/index.ts:1 import cycle`]);
  });
});

describe('files', () => {
  test('401 lines are too many, 400 are not', () => {
    expect(
      found({
        'packages/tools/src/long.ts': '// line\n'.repeat(401),
        'packages/tools/src/full.ts': '// line\n'.repeat(400),
      }),
    ).toEqual(['packages/tools/src/long.ts:401 file length']);
  });

  test('a file named after no noun is named', () => {
    expect(found({ 'packages/tools/src/path-utils.ts': 'export {};' })).toEqual([
      'packages/tools/src/path-utils.ts:1 file names',
    ]);
  });

  test('a comment that promises work is named', () => {
    expect(found({ 'packages/tools/src/a.ts': 'export {};\n// TODO later' })).toEqual([
      'packages/tools/src/a.ts:2 unfinished work',
    ]);
  });
});

describe('entries', () => {
  test('a node: import reachable from the main entry is named, a type import too', () => {
    expect(
      found({
        [`${AGENT}/index.ts`]: "export * from './store/store.ts';",
        [`${AGENT}/store/store.ts`]:
          "\nimport type { Stats } from 'node:fs';\nimport 'zod';\nimport 'fs';\n/** S */\nexport type S = Stats;",
      }),
    ).toEqual([`${AGENT}/store/store.ts:2 runs anywhere`, `${AGENT}/store/store.ts:4 runs anywhere`]);
  });

  test('yaml stays out of the main entry', () => {
    expect(found({ [`${AGENT}/index.ts`]: "import 'yaml';" })).toEqual([`${AGENT}/index.ts:1 runs anywhere`]);
  });

  test('a turn that reaches a channel, a database or Node is named [S3]', () => {
    const folder = 'packages/assistant/src';
    const rules = found({
      [`${folder}/turn/turn.ts`]:
        "import type { Kit } from './dependencies.ts';\nimport 'grammy';\nexport type K = Kit;",
      [`${folder}/turn/dependencies.ts`]: [
        "import type { Sql } from '../cloudflare/d1-sql.ts';",
        "import '../telegram/api.ts';",
        "import '../sqlite/sqlite-sql.ts';",
        "import 'nanoid';",
        'export type Kit = Sql;',
      ].join('\n'),
      [`${folder}/cloudflare/d1-sql.ts`]: 'export type Sql = string;',
      [`${folder}/telegram/api.ts`]: 'export {};',
      [`${folder}/sqlite/sqlite-sql.ts`]: "import 'node:sqlite';",
    }).filter((line) => line.endsWith('portable'));
    expect(rules).toEqual([
      `${folder}/sqlite/sqlite-sql.ts:1 portable`,
      `${folder}/turn/dependencies.ts:1 portable`,
      `${folder}/turn/dependencies.ts:2 portable`,
      `${folder}/turn/dependencies.ts:3 portable`,
      `${folder}/turn/turn.ts:2 portable`,
    ]);
  });

  test('the Node transport behind #transport does not count outside of Node', () => {
    expect(
      found({
        [`${AGENT}/provider/index.ts`]: "export { send } from '#transport';",
        [`${AGENT}/provider/http/fetch-transport.ts`]: '/** Sends. */\nexport const send = 1;',
        [`${AGENT}/node/transport.ts`]: "import 'node:http';\nexport const send = 1;",
      }),
    ).toEqual([]);
  });

  test('a ./testing entry that reaches msw or vitest is named', () => {
    expect(
      found({
        [`${CLAUDE}/src/testing/index.ts`]: "export * from './mock.ts';",
        [`${CLAUDE}/src/testing/mock.ts`]:
          "import 'msw';\nimport { test } from 'vitest';\nexport const t = test;",
      }).filter((line) => line.endsWith('testing entries')),
    ).toEqual([
      `${CLAUDE}/src/testing/mock.ts:1 testing entries`,
      `${CLAUDE}/src/testing/mock.ts:2 testing entries`,
    ]);
  });
});

describe('documented exports', () => {
  const bare = (files: Record<string, string>) =>
    found(files).filter((line) => line.endsWith('documented exports'));

  test('an export without a doc comment is named where it is declared, through re-exports', () => {
    expect(
      bare({
        'packages/tools/src/index.ts': "export * from './a.ts';\nexport { B as C } from './b.ts';\n",
        'packages/tools/src/a.ts': '/** One. */\nexport const one = 1;\n\n// two\nexport const two = 2;\n',
        'packages/tools/src/b.ts': '/** */\nexport type B = string;\nexport type Inner = B;\n',
      }),
    ).toEqual([
      'packages/tools/src/a.ts:5 documented exports',
      'packages/tools/src/b.ts:2 documented exports',
    ]);
  });

  test('one comment is enough for all overloads, and that of another declaration does not count', () => {
    expect(
      bare({
        'packages/tools/src/index.ts': [
          '/** f */\nexport function f(a: string): void;',
          'export function f(a: number): void;',
          'export function f(a: unknown): void {}',
          '/** not for g */\nconst inner = 1;\nexport const g = inner;',
        ].join('\n'),
      }),
    ).toEqual(['packages/tools/src/index.ts:7 documented exports']);
  });

  test('what no entry exports, and what is not published, need none', () => {
    expect(
      bare({
        'packages/tools/src/inner.ts': 'export const a = 1;',
        'apps/web/src/page.ts': 'export const b = 1;',
      }),
    ).toEqual([]);
  });
});

describe('effects in the core', () => {
  const uses = (text: string, path = `${AGENT}/store/store.ts`) =>
    found({ [path]: text }).filter((line) => line.endsWith('effects')).length;

  test.each([
    'export const a = Date.now();',
    'export const a = new Date();',
    'export const a = Math.random();',
    "export const a = Math['random']();",
    'setTimeout(() => {}, 1);',
    'export const a = { setInterval };',
    "export const a = () => fetch('x');",
    'export const a = crypto.randomUUID();',
    'export const a = performance.now() as number;',
    'export const a = process.env.HOME;',
    'export const a = AbortSignal.timeout(5);',
    'export const a = globalThis.fetch;',
    'export const a = `at ${Date.now()}`;',
    'export class A { at = Date.now(); }',
    'export function f(now = Date.now) { return now(); }',
  ])('%s is named', (text) => {
    expect(uses(text)).toBe(1);
  });

  test.each([
    'export type F = typeof fetch; export interface T { at: Date; setTimeout(): void }',
    'export const a = (fetch: () => void) => fetch();',
    'export const a = ({ fetch }: { fetch: () => void }) => () => fetch();',
    'export const a = (runtime: { fetch(): void; now: number }) => runtime.fetch();',
    'export const a = { fetch: 1, process: 2 };',
    "export const a = 'Date.now()'; // Date.now()",
    'export const a = Math.max(1, 2);',
    'export class A { fetch() { return this.fetch(); } }',
  ])('%s is fine', (text) => {
    expect(uses(text)).toBe(0);
  });

  test('a provider reads its environment, and takes the clock and the network from the runtime', () => {
    const path = `${CLAUDE}/src/index.ts`;
    expect(uses('export const a = process.env.KEY;', path)).toBe(0);
    expect(uses("export const a = [Date.now(), fetch('x')];", path)).toBe(2);
  });

  test('the runtime and the Node folder may touch the world', () => {
    expect(uses('export const a = Date.now();', `${AGENT}/values/runtime.ts`)).toBe(0);
    expect(uses('export const a = Date.now();', `${AGENT}/node/index.ts`)).toBe(0);
  });
});

describe('vendor names in the core', () => {
  const uses = (text: string, file = 'store.ts') =>
    found({ [`${AGENT}/${file}`]: text }).filter((line) => line.endsWith('vendor names')).length;

  test('a name, a string and a template are named, a comment is not', () => {
    expect(uses('export const claudeIsFirst = 1;')).toBe(1);
    expect(uses("export const a = 'api.openai.com';")).toBe(1);
    expect(uses('export const a = (b: string) => `Anthropic-${b}`;')).toBe(1);
    expect(uses('// as claude does\nexport const a = 1;')).toBe(0);
  });

  test('config.ts knows the names of the environment', () => {
    expect(uses("export const a = 'claude';", 'interfaces/config.ts')).toBe(0);
  });
});

test('the command prints place, rule and remedy, and exits 1', () => {
  const home = plant({ [`${AGENT}/store/store.ts`]: '\nexport const a = Date.now();' });
  const check = join(root, 'scripts/check-house.mjs');
  const { status, stdout } = spawnSync(process.execPath, [check, home], { encoding: 'utf8' });
  expect(stdout).toBe(
    `${AGENT}/store/store.ts:2  effects: uses the global Date. Take it from the injected Runtime.\n`,
  );
  expect(status).toBe(1);
});

import { spawnSync } from 'node:child_process';
import {
  cpSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'cobbler-imports-'));
const bin = join(root, 'node_modules/.bin');

/** Runs a tool of the project in the temporary directory that contains the planted files. */
function run(tool: string, ...args: readonly string[]): string {
  return spawnSync(join(bin, tool), args, { cwd: home, encoding: 'utf8', maxBuffer: 2 ** 26 }).stdout;
}

const agent = 'packages/agent/src';
const assistant = 'packages/assistant/src';

/** Files that break the import rules, with the violations of each as `rule: imported file`. */
const planted: readonly (readonly [path: string, text: string, violations: readonly string[]])[] = [
  // Packages
  ['packages/tools/src/leaf.ts', "import '@cobbler/delegate';", ['packages: packages/delegate/src/index.ts']],
  ['packages/tools/src/fine.ts', "import '@cobbler/agent/node';", []],
  [
    'packages/tools/src/outside.ts',
    "import '../../agent/src/values/usage.ts';",
    ['relative paths: packages/agent/src/values/usage.ts'],
  ],
  [
    'packages/tools/test/a.test.ts',
    "import '@cobbler/provider-claude/testing';\nimport '@cobbler/conformance';\nimport '@cobbler/provider-claude';",
    ['packages: packages/provider-claude/src/index.ts'],
  ],
  [
    'packages/agent/test/a.test.ts',
    "import '@cobbler/conformance';",
    ['packages: packages/conformance/src/index.ts'],
  ],
  ['apps/web/src/app/session/a.ts', "import '@cobbler/tools';", ['packages: packages/tools/src/index.ts']],
  ['apps/cli/src/commands/a.ts', "import '@cobbler/tools';\nimport '@cobbler/agent';", []],
  // Layers, including type imports
  [
    `${agent}/values/usage.ts`,
    "import type { A } from '../interfaces/agent.ts';\nexport type U = A;",
    ['layers: packages/agent/src/interfaces/agent.ts'],
  ],
  [
    `${agent}/values/inline.ts`,
    "export type U = import('../interfaces/agent.ts').A;",
    ['layers: packages/agent/src/interfaces/agent.ts'],
  ],
  [
    `${agent}/provider/wire/a.ts`,
    "import '../create-agent.ts';\nimport '../../values/usage.ts';",
    ['layers: packages/agent/src/provider/create-agent.ts'],
  ],
  [`${agent}/provider/create-agent.ts`, "import './http/fetch-transport.ts';", []],
  [`${agent}/surprise.ts`, "import './values/usage.ts';", ['layers: packages/agent/src/values/usage.ts']],
  // Cycles, including type imports; each is reported once
  [
    'packages/tools/src/one.ts',
    "import './two.ts';\nexport type One = 1;",
    ['cycles: packages/tools/src/two.ts'],
  ],
  ['packages/tools/src/two.ts', "import type { One } from './one.ts';\nexport type Two = One;", []],
  // Direct and transitive imports of a file or an entry
  [
    `${agent}/loop/decide.ts`,
    "export * from '../events/state.ts';",
    ['purity: packages/agent/src/values/runtime.ts'],
  ],
  [`${agent}/events/state.ts`, "export * from '../values/runtime.ts';", []],
  [
    `${agent}/events/index.ts`,
    "import 'yaml';\nimport 'zod';",
    ['runs anywhere: node_modules/yaml/index.js'],
  ],
  [
    `${agent}/remote/index.ts`,
    "import type { Stats } from 'node:fs';\nexport type S = Stats;",
    ['runs anywhere: fs'],
  ],
  [`${agent}/provider/index.ts`, "import '#transport';", []],
  [
    `${assistant}/turn/turn.ts`,
    "import type { A } from './kit.ts';\nexport type K = A;",
    ['portable: packages/assistant/src/telegram/api.ts', 'portable: fs'],
  ],
  [
    `${assistant}/turn/kit.ts`,
    "import '../telegram/api.ts';\nimport 'fs';\nimport 'zod';\nexport type A = 1;",
    ['layers: packages/assistant/src/telegram/api.ts'],
  ],
  [
    'packages/provider-claude/src/testing/index.ts',
    "import './mock.ts';",
    ['testing entries: node_modules/msw/index.js'],
  ],
  ['packages/provider-claude/src/testing/mock.ts', "import 'msw';", []],
  // Names
  [
    'packages/tools/src/named.ts',
    "import './path-utils.ts';",
    ['file names: packages/tools/src/path-utils.ts'],
  ],
  [
    `${agent}/context/named.ts`,
    "import './openai-context.ts';",
    ['vendor names: packages/agent/src/context/openai-context.ts'],
  ],
];

const targets = [
  `${agent}/index.ts`,
  `${agent}/interfaces/agent.ts`,
  `${agent}/values/runtime.ts`,
  `${agent}/node/index.ts`,
  `${agent}/node/transport.ts`,
  `${agent}/provider/http/fetch-transport.ts`,
  `${agent}/context/openai-context.ts`,
  `${assistant}/telegram/api.ts`,
  'packages/tools/src/index.ts',
  'packages/tools/src/path-utils.ts',
  'packages/delegate/src/index.ts',
  'packages/conformance/src/index.ts',
  'packages/provider-claude/src/index.ts',
];

function write(path: string, text: string): void {
  mkdirSync(dirname(join(home, path)), { recursive: true });
  writeFileSync(join(home, path), text);
}

beforeAll(() => {
  for (const path of [
    'scripts/import-rules.mjs',
    'scripts/house.json',
    'tsconfig.base.json',
    'biome.json',
    '.gitignore',
  ])
    cpSync(join(root, path), join(home, path));
  mkdirSync(join(home, 'node_modules/@cobbler'), { recursive: true });
  for (const path of globSync('{packages,apps}/*/package.json', { cwd: root })) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    cpSync(join(root, path), join(home, path));
    const { name } = JSON.parse(readFileSync(join(root, path), 'utf8')) as { name: string };
    symlinkSync(join(home, dirname(path)), join(home, 'node_modules', name));
  }
  for (const name of ['zod', 'yaml', 'msw']) {
    write(`node_modules/${name}/package.json`, JSON.stringify({ name, main: 'index.js' }));
    write(`node_modules/${name}/index.js`, '');
  }
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

interface Report {
  readonly summary: {
    readonly violations: readonly { from: string; to: string; rule: { name: string } }[];
  };
}

describe('the import rules', () => {
  let found: ReadonlyMap<string, readonly string[]>;
  beforeAll(() => {
    for (const path of targets) write(path, 'export {};');
    for (const [path, text] of planted) write(path, text);
    const output = run(
      'depcruise',
      '--config=scripts/import-rules.mjs',
      '--output-type=json',
      'packages',
      'apps',
    );
    const { violations } = (JSON.parse(output) as Report).summary;
    found = new Map(
      [...Map.groupBy(violations, ({ from }) => from)].map(([from, list]) => [
        from,
        list.map(({ rule, to }) => `${rule.name}: ${to}`),
      ]),
    );
  });

  test.each(planted)('%s', (path, _, violations) => {
    expect([...(found.get(path) ?? [])].sort()).toEqual([...violations].sort());
  });
});

describe('the linter', () => {
  const lines = (count: number) => `export {};\n${'void 0;\n'.repeat(count - 1)}`;
  const clocks = "export const a: unknown = [Date.now(), fetch('x')];";
  const linted: readonly (readonly [what: string, path: string, text: string, rules: readonly string[]])[] = [
    ...[
      ['export const a: number = Date.now();', 'noRestrictedGlobals'],
      ['export const a: number = Math.random();', 'noJsRestrictedProperties'],
      ["export const a: number = Math['random']();", 'noJsRestrictedProperties'],
      ['export const a: unknown = { setInterval };', 'noRestrictedGlobals'],
      ['export const a: unknown = process.env;', 'noRestrictedGlobals'],
      ['export const a: AbortSignal = AbortSignal.timeout(5);', 'noJsRestrictedProperties'],
      ['export const a: unknown = globalThis;', 'noRestrictedGlobals'],
    ].map(
      ([text = '', rule = ''], index) =>
        [`rejects ${text} in the core`, `${agent}/store/rejected-${index}.ts`, text, [rule]] as const,
    ),
    ...[
      ['export const a = (fetch: () => void): void => fetch();', `${agent}/store/a.ts`],
      ['export const a: object = { fetch: 1, process: 2 };', `${agent}/store/b.ts`],
      ['export const a: number = Date.now();', `${agent}/node/a.ts`],
      ['export const a: unknown = process.env;', 'packages/provider-claude/src/a.ts'],
    ].map(([text = '', path = '']) => [`accepts ${text} in ${path}`, path, text, []] as const),
    [
      'rejects the global clock and network in a provider',
      'packages/provider-claude/src/b.ts',
      clocks,
      Array(2).fill('noRestrictedGlobals'),
    ],
    ['rejects a file of 401 lines', 'packages/tools/src/a.ts', lines(401), ['noExcessiveLinesPerFile']],
    ['accepts a file of 400 lines', 'packages/tools/src/b.ts', lines(400), []],
    ['rejects decide.ts of 71 lines', `${agent}/loop/decide.ts`, lines(71), ['noExcessiveLinesPerFile']],
    [
      'rejects a development dependency in src',
      'packages/tools/src/c.ts',
      "import 'vitest';",
      ['noUndeclaredDependencies'],
    ],
    ['accepts a development dependency in test', 'packages/tools/test/c.ts', "import 'vitest';", []],
  ];
  /** The rules that each file breaks, in the order of its lines. One run of the linter reads all files. */
  const broken = new Map<string, string[]>();

  beforeAll(() => {
    for (const [, path, text] of linted) write(path, text);
    const paths = linted.map(([, path]) => path);
    const words = ['lint', '--reporter=github', '--error-on-warnings', '--max-diagnostics=none', ...paths];
    const output = run('biome', ...words);
    for (const [, rule = '', file = ''] of output.matchAll(/title=lint\/\w+\/(\w+),file=([^,]+),/g)) {
      const path = relative(realpathSync(home), file);
      broken.set(path, [...(broken.get(path) ?? []), rule]);
    }
    // Without its output, every file would be accepted.
    expect(broken.size).toBeGreaterThan(0);
  });

  test.each(linted)('%s', (_, path, _text, rules) => {
    expect(broken.get(path) ?? []).toEqual(rules);
  });
});

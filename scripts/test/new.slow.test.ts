import { execFile } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = join(import.meta.dirname, '../..');
const home = mkdtempSync(join(tmpdir(), 'cobbler-new-'));
const bin = join(root, 'node_modules/.bin');

/** The parts of the project that the created packages need. */
const copied = [
  'tsconfig.base.json',
  'vitest.base.ts',
  'tsup.base.ts',
  'biome.json',
  '.gitignore',
  'scripts/house.json',
  'scripts/import-rules.mjs',
  'packages/tools/package.json',
  'packages/tools/tsconfig.json',
  'packages/tools/src',
];

interface Ended {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function run(command: string, args: readonly string[]): Promise<Ended> {
  // The outer run may have the level `slow`, which omits the quick tests of the created packages.
  const env = {
    ...process.env,
    COBBLER_TEST_LEVEL: 'full',
    PATH: [bin, process.env['PATH']].join(delimiter),
  };
  return new Promise((resolve) => {
    execFile(command, args, { cwd: home, env, maxBuffer: 2 ** 26 }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    );
  });
}

const make = (...words: readonly string[]): Promise<Ended> =>
  run(process.execPath, [join(root, 'scripts/new.mjs'), ...words, '--root', home, '--no-install']);

/** The result of a suite. */
interface Suite {
  readonly passed: number;
  /** The message of each failure. */
  readonly failures: readonly string[];
}

/** Runs the contracts of all created packages; for the provider, only four groups of its suite. */
async function suites(): Promise<ReadonlyMap<string, Suite>> {
  const file = join(home, 'report.json');
  const names = 'agentContract.* (answers|errors|history|usage): |storeContract|channelContract';
  await run('vitest', ['run', '--root', home, '--reporter=json', `--outputFile=${file}`, '-t', names]);
  const { testResults } = JSON.parse(readFileSync(file, 'utf8')) as {
    testResults: {
      name: string;
      /** Reason why the file failed to load; empty if it loaded. */
      message: string;
      assertionResults: { status: string; failureMessages: string[] }[];
    }[];
  };
  return new Map(
    testResults.map(({ name, message, assertionResults }) => [
      /packages\/([^/]+)/.exec(name)?.[1] ?? '',
      {
        passed: assertionResults.filter(({ status }) => status === 'passed').length,
        failures: [message, ...assertionResults.flatMap(({ failureMessages }) => failureMessages)].filter(
          Boolean,
        ),
      },
    ]),
  );
}

/** Implements a created store with as little code as possible, as a memory store. */
function finishStore(folder: string): void {
  const store = `import type { SessionStore } from '@cobbler/agent';
import { memoryStore } from '@cobbler/agent';

/** The dependencies of the store. */
export interface TinCupStoreOptions {
  /** The time in milliseconds. */
  readonly now: () => number;
}

/** Sessions in memory. */
export const tinCupStore = ({ now }: TinCupStoreOptions): SessionStore => memoryStore({ now });
`;
  writeFileSync(join(folder, 'src/tin-cup-store.ts'), store);
  const file = join(folder, 'test/subjects.ts');
  const subject = readFileSync(file, 'utf8')
    .replace('let places = 0;\n\n', '')
    .replace(/ +\/\/ Each case has.*\n/, '')
    .replace(/place\(now\) \{[\s\S]*?\n {4}\},/, 'place: (now) => ({ open: () => tinCupStore({ now }) }),')
    .replace(
      "name: 'tin-cup',",
      "name: 'tin-cup',\n    forgets: 'data in memory is lost when the store closes',",
    );
  writeFileSync(file, subject);
}

let checks: { tsc: Ended; biome: Ended; imports: Ended; suites: ReadonlyMap<string, Suite> };

beforeAll(async () => {
  for (const path of copied) cpSync(join(root, path), join(home, path), { recursive: true });
  mkdirSync(join(home, 'packages/tools/test'));
  for (const path of ['node_modules', 'packages/tools/node_modules'])
    symlinkSync(join(root, path), join(home, path));
  writeFileSync(
    join(home, 'tsconfig.json'),
    '{ "extends": "./tsconfig.base.json", "include": ["packages/*/src", "packages/*/test"] }\n',
  );
  writeFileSync(
    join(home, 'vitest.config.ts'),
    [
      "import { project } from './vitest.base.ts';",
      "export default { test: { projects: [project('node', ['packages/*/test/**/*.test.ts'])] } };",
      '',
    ].join('\n'),
  );
  for (const kind of ['provider', 'channel', 'store', 'tool'])
    expect(await make(kind, 'tin-can')).toMatchObject({ stderr: '', code: 0 });
  expect(await make('store', 'tin-cup')).toMatchObject({ stderr: '', code: 0 });
  finishStore(join(home, 'packages/store-tin-cup'));
  const [tsc, biome, imports, all] = await Promise.all([
    run('tsc', ['-p', home]),
    run('biome', ['check', '--error-on-warnings', 'packages']),
    run('depcruise', ['--config=scripts/import-rules.mjs', '--output-type=err', 'packages']),
    suites(),
  ]);
  checks = { tsc, biome, imports, suites: all };
}, 300_000);

afterAll(() => rmSync(home, { recursive: true, force: true }));

describe('a package created by npm run new', () => {
  test('contains no placeholder name of the templates', async () => {
    const { stdout } = await run('grep', ['-rliE', '--exclude-dir=node_modules', 'your.?own', 'packages']);
    expect(stdout).toBe('');
  });

  test('type-checks', () => {
    expect(checks.tsc).toMatchObject({ stdout: '', code: 0 });
  });

  test('passes lint, including the changed files', () => {
    expect(checks.biome.code, checks.biome.stderr).toBe(0);
  });

  test('follows the import rules', () => {
    expect(checks.imports.code, checks.imports.stdout).toBe(0);
  });

  test.each([
    ['channel', 'src/tin-can-channel.ts, pieces: '],
    ['store', 'src/tin-can-store.ts, claim: '],
  ])(
    'without changes, fails at least twenty cases of the %s suite, and names a missing part',
    (kind, words) => {
      const { failures = [] } = checks.suites.get(`${kind}-tin-can`) ?? {};
      expect(failures.length).toBeGreaterThanOrEqual(20);
      expect(failures.some((text) => text.includes(words))).toBe(true);
    },
  );

  test('without changes, fails the provider suite once, and lists the first parts to write', () => {
    const { failures: [text = '', ...others] = [] } = checks.suites.get('provider-tin-can') ?? {};
    expect(others).toEqual([]);
    const lines = text.split('\n').slice(0, 5);
    expect(lines[0]).toMatch(/parts of the package are not written yet\. Write first:$/);
    expect(lines[1]).toMatch(/^ {2}1\. src\/wire\.ts, turn: /);
    expect(lines.some((line) => line.startsWith('Then run the contract again'))).toBe(true);
  });

  test('passes its suite once it is implemented', () => {
    const { passed = 0, failures } = checks.suites.get('store-tin-cup') ?? {};
    expect(failures).toEqual([]);
    expect(passed).toBeGreaterThan(40);
  });
});

describe('npm run new changes', () => {
  test.each(['provider', 'channel', 'store'])('no other file for a %s', async (kind) => {
    const { stdout } = await make(kind, 'other', '--dry-run');
    const lines = stdout.trimEnd().split('\n');
    expect(lines.filter((line) => !line.startsWith(`would write  packages/${kind}-other/`))).toEqual([]);
  });

  test('the index of the tools for a tool', async () => {
    const { stdout } = await make('tool', 'other', '--dry-run');
    expect(stdout).toContain('would change  packages/tools/src/index.ts\n');
  });
});

describe('npm run new --dry-run', () => {
  test('lists the files and the changes, and makes none of them', async () => {
    const index = join(home, 'packages/tools/src/index.ts');
    const before = readFileSync(index, 'utf8');
    const { stdout } = await make('provider', 'other', '--dry-run');
    expect(stdout).toContain('would write  packages/provider-other/src/wire.ts\n');
    expect(existsSync(join(home, 'packages/provider-other'))).toBe(false);
    await make('tool', 'other', '--dry-run');
    expect(existsSync(join(home, 'packages/tools/src/other.ts'))).toBe(false);
    expect(readFileSync(index, 'utf8')).toBe(before);
  });
});

describe('npm run new refuses', () => {
  test.each([
    [['store', 'tin-can'], 'packages/store-tin-can already exists. Use another name, or remove it.'],
    [
      ['tool', 'list-files'],
      'packages/tools/src/list-files.ts already exists. Use another name, or remove it.',
    ],
    [['tool', 'delete'], '"delete" is a reserved word. Use another name, or one of two words.'],
    [
      ['tool', 'file-utils'],
      '"utils" does not describe anything. Use the name of the service or of what it does.',
    ],
    [['provider', 'your-own'], 'your-own is the placeholder of the templates. Use the name of your service.'],
    [
      ['provider', '../up'],
      '"../up" is not a valid name. Use up to 40 of a-z, 0-9 and - between words, starting with a letter.',
    ],
    [
      ['provider'],
      'The arguments are missing. Use: npm run new -- provider|channel|store|tool NAME [--dry-run] [--no-install]',
    ],
    [
      ['agent', 'x'],
      'The arguments are missing. Use: npm run new -- provider|channel|store|tool NAME [--dry-run] [--no-install]',
    ],
  ])('%j with one line that says what to do', async (words, message) => {
    expect(await make(...words)).toEqual({ stderr: `cobbler: ${message}\n`, stdout: '', code: 1 });
  });
});

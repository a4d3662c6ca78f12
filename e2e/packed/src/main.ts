// Installs the packages as they would be published in an empty directory and runs them: npm run verify -- packed.
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { binaryRows } from './binary.ts';
import { Board } from './board.ts';
import { bundleRows } from './bundles.ts';
import { peerRows, plainRows, writePrograms } from './programs.ts';
import { readmeProgram } from './readme.ts';
import { Room } from './room.ts';
import { editionOf, editions } from './runtimes.ts';
import type { Tarball } from './tarball.ts';
import { inspect, packAll, publishable } from './tarball.ts';
import { traceRows } from './traces.ts';
import { typeRows } from './types.ts';

const suite = fileURLToPath(new URL('..', import.meta.url)).replace(/\/$/, '');
const root = join(suite, '..', '..');
if (process.platform !== 'linux' || process.arch !== 'x64')
  throw new Error('This suite needs Linux on x64: npm has Node 22, 24 and 26 as packages only for it.');
const outputOf = (program: string, ...args: readonly string[]) =>
  execFileSync(program, args, { encoding: 'utf8' }).trim().split('\n').at(-1) ?? '';
/** The directory of npm, which runs with each Node in turn. */
const npm = dirname(outputOf('which', 'npm'));
/** The registry and the cache: the only settings of this machine that the empty home needs. */
const npmFlags = ['registry', 'cache'].map((name) => `--${name}=${outputOf('npm', 'config', 'get', name)}`);

const nodes = editions(suite, 'node-', 'Node');
const compilers = editions(suite, 'typescript-', 'TypeScript');
const columns = nodes.map(({ title }) => title);
const start = (column: string) => ({ bin: join(editionOf(nodes, column).folder, 'bin') });
const bin = join(nodes.at(-2)?.folder ?? '', 'bin');

const shelf = mkdtempSync(join(tmpdir(), 'cobbler-tarballs-'));
const room = new Room(npm);
const board = new Board();
try {
  process.exitCode = await tryAll();
} finally {
  room.remove();
  rmSync(shelf, { recursive: true, force: true });
}

async function tryAll(): Promise<number> {
  const program = readmeProgram(root);
  const tarballs = packAll(publishable(root), shelf);
  const rows = tarballs.map((tarball) => ({
    claim: tarball.manifest.name,
    check: () => inspect(tarball, root),
  }));
  await board.table('Contents of a tarball', ['LICENSE, README.md, dist; no tests, no local paths'], rows);

  writePrograms(room, program);
  await install(tarballs.map(({ file }) => file));
  await board.table('Without optional peers', columns, plainRows(room, start, tarballs, program));
  const cli = tarballs.find(({ manifest }) => manifest.bin !== undefined);
  if (cli !== undefined) await board.table('The command', columns, binaryRows(room, start, cli));
  await board.table('Without Node', ['esbuild, workerd'], bundleRows(room, program));
  const checking = { room, tarballs, editions: compilers, suite, bin, withoutPeers: true };
  const titles = compilers.map(({ title }) => title);
  await board.table('Types, skipLibCheck false', titles, typeRows(checking));

  await install(peersOf(tarballs));
  await board.table('With optional peers', columns, peerRows(room, start, tarballs));
  await board.table('Types, with optional peers', titles, typeRows({ ...checking, withoutPeers: false }));
  const apart = { npm, npmFlags, bin };
  await board.table('OpenTelemetry, chosen by the application', ['Node'], traceRows(tarballs, apart));
  return told();
}

/** Returns the versions of the optional peers with which the packages themselves are tested. */
function peersOf(tarballs: readonly Tarball[]): string[] {
  return tarballs.flatMap(({ manifest }) =>
    Object.keys(manifest.peerDependencies ?? {})
      // Packages of this repository are installed from their tarballs.
      .filter((name) => !name.startsWith('@cobbler/'))
      .map((name) => `${name}@${manifest.devDependencies?.[name] ?? 'latest'}`),
  );
}

/** Optional dependencies are omitted, because those of one peer contain 0.4 GB of programs. */
async function install(what: readonly string[]): Promise<void> {
  process.stderr.write(`packed: npm install of ${what.length} into an empty directory\n`);
  const quiet = ['--no-audit', '--no-fund', '--loglevel=error', '--omit=optional', '--prefer-offline'];
  await room.must('npm', ['install', ...quiet, ...npmFlags, ...what], { bin, network: true });
}

function told(): number {
  const { failures, passed } = board;
  process.stdout.write(`\n${board.toString()}\n\n`);
  for (const failure of failures) process.stdout.write(`FAILED ${failure}\n\n`);
  process.stdout.write(`${passed} passed, ${failures.length} failed, 0 skipped\n`);
  return failures.length > 0 ? 1 : 0;
}

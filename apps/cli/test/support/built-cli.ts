import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ended } from './binary.ts';
import { ended } from './binary.ts';

const source = fileURLToPath(new URL('../..', import.meta.url));
const workspace = dirname(dirname(source));

/** What a start of the built command line read. */
export interface Loaded extends Ended {
  /** Source files that the bundle's files were made of: `commands/run.ts`, or a package's name. */
  readonly parts: ReadonlySet<string>;
  /** Files of the bundle. */
  readonly files: readonly string[];
  /** Modules of Node. */
  readonly builtins: ReadonlySet<string>;
}

/** The command line as it is published, in a folder where nothing else is installed. */
export interface BuiltCli {
  readonly folder: string;
  /** Names of the installed packages of which something is in it. */
  readonly packages: readonly string[];
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Loaded>;
  /** Imports each file of the bundle in one process, except the one that runs the command line. */
  importAll(): Promise<Loaded>;
  remove(): void;
}

/** Tells at the end, in the file named by LOADED, what was loaded. */
const recorder = `
import { writeFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
const files = [];
registerHooks({ load(url, context, next) { files.push(url); return next(url, context); } });
process.on('exit', () => {
  const builtins = process.moduleLoadList.filter((name) => name.startsWith('NativeModule ')).map((name) => name.slice(13));
  writeFileSync(process.env.LOADED, JSON.stringify({ files, builtins }));
});
`;

/** Builds it. Its home is a folder of its own that is there and empty. */
export function buildCli(): BuiltCli {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-built-')));
  const dist = join(folder, 'dist');
  const tsup = join(workspace, 'node_modules', 'tsup', 'dist', 'cli-default.js');
  const built = spawnSync(process.execPath, [tsup, '--out-dir', dist, '--metafile'], {
    cwd: source,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`It does not build:\n${built.stdout}${built.stderr}`);
  for (const name of ['package.json', 'demo'])
    cpSync(join(source, name), join(folder, name), { recursive: true });
  const inputs = partsByFile(join(dist, 'metafile-esm.json'));
  const preload = join(folder, 'recorder.mjs');
  writeFileSync(preload, recorder);
  const importer = join(folder, 'importer.mjs');
  writeFileSync(importer, importsOf(dist));
  const parts = [...inputs.values()].flat();
  const start = async (
    file: string,
    args: readonly string[] = [],
    env: Readonly<Record<string, string>> = {},
  ): Promise<Loaded> => {
    const list = join(folder, 'loaded.json');
    const child = spawn(process.execPath, ['--import', preload, file, ...args], {
      cwd: folder,
      env: { PATH: process.env['PATH'] ?? '', HOME: folder, LANG: 'C.UTF-8', LOADED: list, ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const end = await ended(child);
    const loaded: { files: string[]; builtins: string[] } = JSON.parse(readFileSync(list, 'utf8'));
    const files = loaded.files.filter((url) => url.includes('/dist/')).map((url) => basename(url));
    const parts = new Set(files.flatMap((name) => inputs.get(name) ?? []));
    return { ...end, files, parts, builtins: new Set(loaded.builtins) };
  };
  return {
    folder,
    // The page of the server is built before, and carries the terms of what is in it along.
    packages: [...new Set(parts.filter((part) => !/\.ts$|:|^(apps\/)?web\/dist\//.test(part)))].sort(),
    run: (args, env) => start(join(dist, 'main.js'), args, env),
    importAll: () => start(importer),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** A program that imports each file of the bundle except `main.js`, which runs the command line. */
function importsOf(dist: string): string {
  const files = readdirSync(dist).filter((name) => name.endsWith('.js') && name !== 'main.js');
  return files.map((name) => `import './dist/${name}';\n`).join('');
}

function partsByFile(metafile: string): Map<string, string[]> {
  const { outputs }: { outputs: Record<string, { inputs: Record<string, unknown> }> } = JSON.parse(
    readFileSync(metafile, 'utf8'),
  );
  const entries = Object.entries(outputs);
  return new Map(entries.map(([name, { inputs }]) => [basename(name), Object.keys(inputs).map(partOf)]));
}

/** `../../packages/tools/src/workspace/walk.ts` is `tools/workspace/walk.ts`, a file of an installed package is that package. */
function partOf(path: string): string {
  const installed = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return installed ?? path.replace(/^(\.\.\/)*(packages\/)?/, '').replace('src/', '');
}

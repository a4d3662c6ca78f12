import { spawn, spawnSync } from 'node:child_process';
import { cpSync, mkdtempSync, readdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Ended } from './binary.ts';
import { ended } from './binary.ts';

const source = fileURLToPath(new URL('../..', import.meta.url));
const workspace = dirname(dirname(source));

/** The result of a start of the built CLI, with everything that it loaded. */
export interface Loaded extends Ended {
  /** Sources of the loaded bundle files: `commands/run.ts`, or the name of a package. */
  readonly parts: ReadonlySet<string>;
  /** Loaded files of the bundle. */
  readonly files: readonly string[];
  /** Loaded modules of Node. */
  readonly builtins: ReadonlySet<string>;
}

/** The CLI as it is published, in a directory without other installed packages. */
export interface BuiltCli {
  readonly folder: string;
  /** Names of the bundled packages. */
  readonly packages: readonly string[];
  run(args: readonly string[], env?: Readonly<Record<string, string>>): Promise<Loaded>;
  /** Imports each file of the bundle in one process, except the file that runs the CLI. */
  importAll(): Promise<Loaded>;
  remove(): void;
}

/** Writes the list of loaded modules on exit to the file that LOADED names. */
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

/** Builds the CLI. Its home is its own directory. */
export function buildCli(): BuiltCli {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'cobbler-built-')));
  const dist = join(folder, 'dist');
  const tsup = join(workspace, 'node_modules', 'tsup', 'dist', 'cli-default.js');
  const built = spawnSync(process.execPath, [tsup, '--out-dir', dist, '--metafile'], {
    cwd: source,
    encoding: 'utf8',
  });
  if (built.status !== 0) throw new Error(`The build failed:\n${built.stdout}${built.stderr}`);
  for (const name of ['package.json', 'demo', 'templates'])
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
    // The server's web page is built separately and contains the licenses of its own packages.
    packages: [...new Set(parts.filter((part) => !/\.ts$|:|^(apps\/)?web\/dist\//.test(part)))].sort(),
    run: (args, env) => start(join(dist, 'main.js'), args, env),
    importAll: () => start(importer),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Returns a program that imports each file of the bundle except `main.js`, which runs the CLI. */
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

/** Returns `tools/walk.ts` for `../../packages/tools/src/walk.ts`, and the name of a package. */
function partOf(path: string): string {
  const installed = /^.*node_modules\/((?:@[^/]+\/)?[^/]+)/.exec(path)?.[1];
  return installed ?? path.replace(/^(\.\.\/)*(packages\/)?/, '').replace('src/', '');
}

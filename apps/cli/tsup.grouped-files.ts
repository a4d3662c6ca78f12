import { readdirSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { Options } from 'tsup';

type Files = ReadonlyMap<string, string>;
type Name = readonly [name: string, alias: string];

/** An import of another file of the bundle, as esbuild writes it. */
const anyImport = /(?<=^|[;}\n])import(?:\{([^}]*)\}from)?"\.\/([^"]+\.js)";/g;
const anyDynamicImport = /import\("\.\/([^"]+\.js)"\)/g;
const lastExport = /(?<=^|[;}\n])export\{([^}]*)\};\s*$/;

/**
 * Joins the files that a command always loads together into one. esbuild makes a file for each set of commands that
 * share code, so that a task would load almost a hundred, and Node needs more time to find a file than to compile it.
 * @param first the files that stay as they are, with everything that they import.
 * @param groups the name of each new file, and the files that are joined in it with what they import.
 */
export function groupedFiles(
  first: readonly string[],
  groups: Readonly<Record<string, readonly string[]>>,
): NonNullable<Options['plugins']>[number] {
  return {
    name: 'grouped-files',
    async buildEnd() {
      // A list of the parts of each file knows only the files that esbuild has made.
      if (this.options.metafile === true) return;
      const folder = this.options.outDir;
      const done = closure(readFiles(folder), first);
      for (const [name, roots] of Object.entries(groups)) {
        const files = readFiles(folder);
        const members = [...closure(files, roots)].filter((file) => !done.has(file));
        await joinMembers(folder, files, members, `${name}.js`);
        for (const file of [...members, `${name}.js`]) done.add(file);
      }
    },
  };
}

function readFiles(folder: string): Files {
  const names = readdirSync(folder).filter((name) => name.endsWith('.js'));
  return new Map(names.map((name) => [name, readFileSync(join(folder, name), 'utf8')]));
}

/** Returns the files whose names start with these words, and everything that they import, without `import()`. */
function closure(files: Files, roots: readonly string[]): Set<string> {
  const found = new Set<string>();
  const add = (file: string) => {
    if (found.has(file)) return;
    found.add(file);
    for (const [, , other = ''] of files.get(file)?.matchAll(anyImport) ?? []) add(other);
  };
  for (const root of roots) {
    const starts = [...files.keys()].filter((file) => file === `${root}.js` || file.startsWith(`${root}-`));
    if (starts.length !== 1) throw new Error(`The bundle has ${starts.length} files for ${root}, not one.`);
    starts.forEach(add);
  }
  return found;
}

async function joinMembers(
  folder: string,
  files: Files,
  members: readonly string[],
  target: string,
): Promise<void> {
  // Every file has names of its own, which get a number in the joined file.
  const numbers = new Map(members.map((file, at) => [file, at]));
  const loaded = new Set(
    [...files.values()].flatMap((code) => [...code.matchAll(anyDynamicImport)].map(([, file]) => file)),
  );
  writeFileSync(join(folder, target), await joined(files, numbers));
  for (const [file, code] of files) {
    const number = numbers.get(file);
    if (number === undefined)
      writeFileSync(join(folder, file), onceImported(renamed(code, numbers, target), target));
    else if (loaded.has(file))
      writeFileSync(join(folder, file), `export{${exportsOf(code, number, false)}}from"./${target}";`);
    else unlinkSync(join(folder, file));
  }
}

async function joined(files: Files, numbers: ReadonlyMap<string, number>): Promise<string> {
  const contents = [...numbers.keys()].map((file) => `export*from"./${file}";`).join('\n');
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: '.' },
    bundle: true,
    format: 'esm',
    platform: 'node',
    target: 'node22',
    minify: true,
    write: false,
    // Otherwise esbuild would leave out the files of which only the effects are imported.
    ignoreAnnotations: true,
    logLevel: 'error',
    plugins: [
      {
        name: 'members',
        setup(plugin) {
          plugin.onResolve({ filter: /^\.\/.*\.js$/ }, ({ path, kind }) => {
            const file = path.slice(2);
            const isMember = numbers.has(file) && kind !== 'dynamic-import';
            return isMember ? { path: file, namespace: 'member' } : { path, external: true };
          });
          plugin.onLoad({ filter: /./, namespace: 'member' }, ({ path }) => {
            const code = renamed(files.get(path) ?? '', numbers);
            const number = numbers.get(path) ?? 0;
            return { contents: code.replace(lastExport, () => `export{${exportsOf(code, number, true)}};`) };
          });
        },
      },
    ],
  });
  return outputFiles[0]?.text ?? '';
}

/** Gives the names that are imported from members their numbers, and replaces the members with another file. */
function renamed(code: string, numbers: ReadonlyMap<string, number>, target?: string): string {
  return code.replace(anyImport, (all, names: string | undefined, file: string) => {
    const number = numbers.get(file);
    if (number === undefined) return all;
    const from = `"./${target ?? file}";`;
    if (names === undefined) return `import${from}`;
    return `import{${namesIn(names).map(([name, alias]) => `${numbered(name, number)} as ${alias}`)}}from${from}`;
  });
}

/** Returns the names in the export of a file: as it exports them with their numbers, or the other way round. */
function exportsOf(code: string, number: number, isOwn: boolean): string {
  const names = namesIn(lastExport.exec(code)?.[1] ?? '');
  if (names.length === 0 && !isOwn)
    throw new Error('A command exports nothing. Do not run two builds of the CLI at the same time.');
  return names
    .map(([name, alias]) =>
      isOwn ? `${name} as ${numbered(alias, number)}` : `${numbered(alias, number)} as ${alias}`,
    )
    .join(',');
}

function onceImported(code: string, target: string): string {
  const [first, ...rest] = code.split(`import"./${target}";`);
  return rest.length === 0 ? code : `${first}import"./${target}";${rest.join('')}`;
}

function numbered(name: string, number: number): string {
  return `g${number}_${name}`;
}

function namesIn(text: string): Name[] {
  return text
    .split(',')
    .filter((item) => item !== '')
    .map((item) => item.split(' as '))
    .map(([name = '', alias = name]) => [name, alias]);
}

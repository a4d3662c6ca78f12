import { spawnSync } from 'node:child_process';
import { mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';

/** The relevant fields of a package.json. */
export interface Manifest {
  readonly name: string;
  readonly version: string;
  readonly private?: boolean;
  readonly description?: string;
  readonly license?: string;
  readonly exports?: Readonly<Record<string, unknown>>;
  readonly bin?: Readonly<Record<string, string>>;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

/** A package as it would be published. */
export interface Tarball {
  readonly file: string;
  readonly manifest: Manifest;
  /** Its files by their path in the package. */
  readonly files: ReadonlyMap<string, string>;
}

/** Returns the directories of the published packages. */
export function publishable(root: string): readonly string[] {
  const folders = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(root, group, name)),
  );
  return folders.filter((folder) => {
    const text = readOrEmpty(join(folder, 'package.json'));
    return text !== '' && (JSON.parse(text) as Manifest).private !== true;
  });
}

/** Packs each directory into `place`. */
export function packAll(folders: readonly string[], place: string): readonly Tarball[] {
  mkdirSync(place, { recursive: true });
  return folders.map((folder) => {
    const before = new Set(readdirSync(place));
    run('pnpm', ['pack', '--pack-destination', place], folder);
    const name = readdirSync(place).find((file) => !before.has(file));
    if (name === undefined) throw new Error(`pnpm created no tarball of ${folder}.`);
    return opened(join(place, name), join(place, name.replace(/\.tgz$/, '')));
  });
}

function opened(file: string, folder: string): Tarball {
  mkdirSync(folder);
  run('tar', ['-xzf', file, '-C', folder], folder);
  const root = join(folder, 'package');
  const files = new Map<string, string>();
  for (const entry of readdirSync(root, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(path.slice(root.length + 1), readFileSync(path, 'utf8'));
  }
  return { file, files, manifest: JSON.parse(files.get('package.json') ?? '{}') as Manifest };
}

/** Returns the import specifiers of a package. */
export function entriesOf({ manifest }: Tarball): readonly string[] {
  return Object.keys(manifest.exports ?? {}).map((path) => `${manifest.name}${path.slice(1)}`);
}

/**
 * Checks the contents of a package to publish.
 *
 * @throws Error with all files that do not belong there or are missing
 */
export function inspect(tarball: Tarball, root: string): string {
  const { files, manifest } = tarball;
  const wrong = [
    ...missingFrom(tarball),
    ...[...files.keys()].filter(isOfTests).map((path) => `${path} belongs to a test`),
    ...[...files.keys()].filter((path) => /\.map$/.test(path)).map((path) => `${path} is a source map`),
    ...[...files].flatMap(([path, text]) => foreign(path, text, root)),
  ];
  for (const [name, range] of Object.entries({ ...manifest.dependencies, ...manifest.peerDependencies }))
    if (/^(workspace|catalog|link|file):/.test(range)) wrong.push(`package.json needs ${name} as ${range}`);
  if (wrong.length > 0) throw new Error(wrong.join('\n'));
  return `${files.size} files`;
}

function missingFrom({ files, manifest }: Tarball): readonly string[] {
  const targets =
    JSON.stringify([manifest.exports ?? {}, manifest.bin ?? {}]).match(/(?<=")(\.\/)?dist\/[^"]*/g) ?? [];
  const wanted = [
    'LICENSE',
    'README.md',
    'package.json',
    ...targets.map((path) => path.replace(/^\.\//, '')),
  ];
  const facts = (['description', 'license'] as const).filter((name) => manifest[name] === undefined);
  return [
    ...wanted.filter((path) => !files.has(path)).map((path) => `${path} is missing`),
    ...facts.map((name) => `package.json has no ${name}`),
  ];
}

/** The demo is a small project whose tests must be included. */
function isOfTests(path: string): boolean {
  return (
    !path.startsWith('demo/') && (/(^|\/)(test|tests|src|fixtures)\//.test(path) || /\.test\./.test(path))
  );
}

/** Matches paths and names that exist only on one machine. */
function foreign(path: string, text: string, root: string): readonly string[] {
  const found: string[] = [];
  for (const place of [root, ...(homedir() === '/' ? [] : [homedir()])])
    if (text.includes(`${place}/`)) found.push(`${path} names ${place}`);
  const registry = /https?:\/\/[\w.-]*registry[\w.-]*[^\s"'`)]*/.exec(text)?.[0];
  if (registry !== undefined) found.push(`${path} names ${registry}`);
  if (/sourceMappingURL=(?!\$)/.test(text)) found.push(`${path} points to a source map`);
  return found;
}

function run(program: string, args: readonly string[], cwd: string): void {
  const { status, stdout, stderr } = spawnSync(program, args, { cwd, encoding: 'utf8' });
  if (status !== 0) throw new Error(`${program} ${args.join(' ')} failed:\n${stdout}${stderr}`);
}

function readOrEmpty(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}

// Reads the packages and their sources as syntax trees.
import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, posix, sep } from 'node:path';
import { parseSync } from 'vite';

/**
 * @typedef {object} Source
 * @property {string} path from the root, with forward slashes
 * @property {string} text
 * @property {any} program syntax tree (ESTree with TypeScript nodes)
 * @property {{ value: string, start: number, end: number }[]} comments
 */
/** @typedef {{ name: string, folder: string, manifest: any }} Package */
/** @typedef {{ root: string, packages: Package[], sources: Map<string, Source> }} Project */

/**
 * @param {string} root
 * @param {string[]} folders globs of the directories to read
 * @returns {Project}
 */
export function readProject(root, folders) {
  const manifests = globSync('{packages,apps}/*/package.json', { cwd: root });
  const packages = manifests.map((file) => {
    const manifest = JSON.parse(readFileSync(join(root, file), 'utf8'));
    return { name: manifest.name, folder: slashed(dirname(file)), manifest };
  });
  /** @type {Project} */
  const project = { root, packages, sources: new Map() };
  for (const folder of globSync(folders, { cwd: root })) {
    if (!statSync(join(root, folder)).isDirectory()) continue;
    for (const file of globSync('**/*.{ts,tsx,mts,mjs,js}', { cwd: join(root, folder) })) {
      const path = slashed(join(folder, file));
      if (!/(^|\/)(node_modules|dist|fixtures)\//.test(path))
        project.sources.set(path, readSource(project, path));
    }
  }
  return project;
}

/**
 * @param {Project} project
 * @param {string} path
 * @returns {Source}
 */
function readSource(project, path) {
  const text = readFileSync(join(project.root, path), 'utf8');
  const { program, comments, errors } = parseSync(path, text);
  if (errors.length > 0) throw new Error(`${path} cannot be parsed: ${errors[0]?.message}`);
  return { path, text, program, comments };
}

/**
 * Returns the source that an import names; undefined for a package outside this project.
 * @param {Project} project
 * @param {Source} from
 * @param {string} specifier
 * @returns {Source | undefined}
 */
export function sourceOf(project, from, specifier) {
  if (specifier.startsWith('.')) return project.sources.get(posix.join(posix.dirname(from.path), specifier));
  const target = project.packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  return target && project.sources.get(entryFile(target, `.${specifier.slice(target.name.length)}`) ?? '');
}

/**
 * Returns the source file of an entry of a package, such as `./testing`.
 * @param {Package} target
 * @param {string} entry
 * @returns {string | undefined}
 */
export function entryFile({ folder, manifest }, entry) {
  const file = manifest.exports?.[entry]?.['@cobbler/source'];
  return file && posix.join(folder, file);
}

/**
 * Calls `look` for every node of a tree, parents first. If it returns false, the children are skipped.
 * @param {any} node
 * @param {(node: any, parent: any) => unknown} look
 * @param {any} [parent]
 */
export function visit(node, look, parent) {
  if (look(node, parent) === false) return;
  for (const value of Object.values(node)) {
    for (const child of Array.isArray(value) ? value : [value]) {
      if (typeof child?.type === 'string') visit(child, look, node);
    }
  }
}

/**
 * @param {string} text
 * @param {number} offset
 */
export function lineAt(text, offset) {
  return text.slice(0, offset).split('\n').length;
}

/** @param {string} path */
function slashed(path) {
  return path.split(sep).join('/');
}

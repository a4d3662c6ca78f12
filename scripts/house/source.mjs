// Reads the project's sources as syntax trees: the material that the rules look at.
import { globSync, readFileSync, statSync } from 'node:fs';
import { builtinModules } from 'node:module';
import { dirname, join, posix, sep } from 'node:path';
import { parseSync } from 'vite';

/**
 * @typedef {object} Import
 * @property {string} specifier as written
 * @property {number} line
 * @property {string[]} files what it means inside this project; several where conditions choose
 * @property {string} [anywhere] the one of `files` that a program outside of Node gets
 * @property {string} [external] name of the package outside of this project, `node:` for a built-in module
 */
/**
 * @typedef {object} Source
 * @property {string} path from the root, with forward slashes
 * @property {string} text
 * @property {any} program syntax tree (ESTree with TypeScript nodes)
 * @property {{ value: string, start: number, end: number }[]} comments
 * @property {Import[]} imports type imports included
 * @property {Package | undefined} owner
 */
/** @typedef {{ name: string, folder: string, manifest: any }} Package */
/** @typedef {{ root: string, packages: Package[], sources: Map<string, Source> }} Project */

const BUILT_IN = new Set(builtinModules);

/**
 * @param {string} root
 * @param {string[]} folders globs of the folders to read
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
  const owner = project.packages.find(({ folder }) => path.startsWith(`${folder}/`));
  /** @type {Source} */
  const source = { path, text, program, comments, imports: [], owner };
  visit(program, (node) => {
    const specifier = specifierOf(node);
    if (specifier === undefined) return;
    source.imports.push({
      specifier,
      line: lineAt(text, node.start),
      ...resolve(project, source, specifier),
    });
  });
  return source;
}

/** @param {any} node */
function specifierOf(node) {
  switch (node.type) {
    case 'ImportDeclaration':
    case 'ExportNamedDeclaration':
    case 'ExportAllDeclaration':
    case 'ImportExpression':
    case 'TSImportType': {
      const { value } = node.source ?? node.argument?.literal ?? {};
      return typeof value === 'string' ? value : undefined;
    }
    default:
      return undefined;
  }
}

/**
 * @param {Project} project
 * @param {Source} source
 * @param {string} specifier
 * @returns {{ files: string[], anywhere?: string, external?: string }}
 */
function resolve(project, source, specifier) {
  if (specifier.startsWith('.')) {
    const file = posix.join(posix.dirname(source.path), specifier);
    return { files: [file], anywhere: file };
  }
  if (specifier.startsWith('#')) return resolveCondition(source, specifier);
  const target = project.packages.find(({ name }) => specifier === name || specifier.startsWith(`${name}/`));
  if (target) {
    const file = entryFile(target, `.${specifier.slice(target.name.length)}`);
    return file ? { files: [file], anywhere: file } : { files: [] };
  }
  if (specifier.startsWith('node:') || BUILT_IN.has(specifier)) return { files: [], external: 'node:' };
  if (specifier.startsWith('cloudflare:')) return { files: [], external: 'cloudflare:' };
  return { files: [], external: specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/') };
}

/**
 * A `#name` of package.json: the conditions of the program that imports it choose one of several files.
 * @param {Source} source
 * @param {string} specifier
 */
function resolveCondition({ owner }, specifier) {
  const choices = owner?.manifest.imports?.[specifier]?.['@cobbler/source'];
  if (!owner || !choices) return { files: [] };
  /** @param {string} file */
  const place = (file) => posix.join(owner.folder, file);
  const files = [...new Set(Object.values(choices))].map(place);
  return { files, anywhere: place(choices.default) };
}

/**
 * The source file behind an entry of a package, such as `./testing`.
 * @param {Package} target
 * @param {string} entry
 * @returns {string | undefined}
 */
export function entryFile({ folder, manifest }, entry) {
  const file = manifest.exports?.[entry]?.['@cobbler/source'];
  return file && posix.join(folder, file);
}

/**
 * Calls `look` for every node of a tree, parents first; a look that returns false keeps out of its children.
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

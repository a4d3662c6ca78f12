// Finds every name that an entry of a package exports, and the statements that declare it.
import { entryFile, sourceOf } from './source.mjs';

/** @typedef {import('./source.mjs').Project} Project */
/** @typedef {import('./source.mjs').Package} Package */
/** @typedef {import('./source.mjs').Source} Source */
/**
 * @typedef {object} Exported
 * @property {string} name in the entry
 * @property {Source} [source] the file that declares it; absent for declarations of another project
 * @property {any[]} statements of that file, several for overloads; empty for declarations of another project
 * @property {string} [external] the package outside of this project that declares it
 */
/** @typedef {{ specifier: string, names: Exported[] }} Entry */

/**
 * Returns the entries of a package in the order of its package.json, with their names sorted.
 * @param {Project} project
 * @param {Package} target
 * @returns {Entry[]}
 */
export function entriesOf(project, target) {
  return Object.keys(target.manifest.exports ?? {}).flatMap((entry) => {
    const source = project.sources.get(entryFile(target, entry) ?? '');
    if (!source) return [];
    const names = [...exportsOf(project, source).values()];
    names.sort((left, right) => (left.name < right.name ? -1 : 1));
    return [{ specifier: target.name + entry.slice(1), names }];
  });
}

/**
 * Returns the packages that are published and can be imported.
 * @param {Project} project
 */
export function publishedPackages({ packages }) {
  return packages
    .filter(({ manifest }) => manifest.private !== true && manifest.exports !== undefined)
    .sort((left, right) => (left.name < right.name ? -1 : 1));
}

/**
 * Returns everything that a file exports, with re-exports resolved to their declarations.
 * @param {Project} project
 * @param {Source} source
 * @param {Set<string>} [above] files that led here
 * @returns {Map<string, Exported>}
 */
function exportsOf(project, source, above = new Set()) {
  /** @type {Map<string, Exported>} */
  const found = new Map();
  if (above.has(source.path)) return found;
  const way = new Set(above).add(source.path);
  for (const statement of source.program.body) {
    if (statement.type === 'ExportAllDeclaration') {
      const target = sourceOf(project, source, statement.source.value);
      if (target) for (const [name, one] of exportsOf(project, target, way)) found.set(name, one);
    } else if (statement.type === 'ExportNamedDeclaration') {
      for (const one of namedExports(project, source, statement, way)) found.set(one.name, one);
    }
  }
  return found;
}

/**
 * @param {Project} project
 * @param {Source} source
 * @param {any} statement
 * @param {Set<string>} way
 * @returns {Exported[]}
 */
function namedExports(project, source, statement, way) {
  if (statement.declaration) {
    return declaredNames(statement.declaration).map((name) => local(source, name, name));
  }
  return statement.specifiers.map((/** @type {any} */ specifier) => {
    const name = specifier.exported.name;
    const inner = specifier.local.name;
    if (!statement.source) return local(source, inner, name);
    const external = statement.source.value;
    const target = sourceOf(project, source, external);
    if (!target) return { name, statements: [], external: packageOf(external) };
    const one = exportsOf(project, target, way).get(inner);
    return { ...(one ?? { statements: [] }), name };
  });
}

/**
 * Returns a name that a file declares, or imports in order to export it.
 * @param {Source} source
 * @param {string} inner
 * @param {string} name
 * @returns {Exported}
 */
function local(source, inner, name) {
  const statements = source.program.body.filter((/** @type {any} */ statement) =>
    declaredNames(statement.declaration ?? statement).includes(inner),
  );
  return { name, source, statements };
}

/**
 * Returns the package of an import of another project.
 * @param {string} specifier
 */
function packageOf(specifier) {
  return specifier.split('/', specifier.startsWith('@') ? 2 : 1).join('/');
}

/**
 * @param {any} declaration
 * @returns {string[]}
 */
function declaredNames(declaration) {
  if (declaration?.type === 'VariableDeclaration')
    return declaration.declarations.map((/** @type {any} */ one) => one.id.name);
  return typeof declaration?.id?.name === 'string' ? [declaration.id.name] : [];
}

/**
 * Returns whether a doc comment is directly before a node.
 * @param {Source} source
 * @param {any} node
 */
export function isDocumented({ text, comments }, node) {
  return comments.some(
    ({ value, start, end }) =>
      text.startsWith('/**', start) &&
      end <= node.start &&
      text.slice(end, node.start).trim() === '' &&
      value.replace(/[*\s]/g, '') !== '',
  );
}

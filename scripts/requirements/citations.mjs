// Finds the tests that cite a requirement (S0.16) or a promise (P9) in their name.
import { globSync, readFileSync } from 'node:fs';
import { join, sep } from 'node:path';
import { parseSync } from 'vite';
import { lineAt, visit } from '../api/source.mjs';

/**
 * @typedef {object} Citation
 * @property {string} file from the root, with forward slashes
 * @property {number} line
 * @property {string} name without the names of its groups
 * @property {string[]} own numbers in the name
 * @property {string[]} numbers the numbers in the name and in the names of its groups
 * @property {string[]} groups names of its groups, innermost first
 */

/** Locations of tests: packages and programs, contract cases, separate suites. */
const PLACES = [
  '{packages,apps}/*/{test,faces}/**/*.ts',
  'packages/*/src/testing/**/*.ts',
  'packages/conformance/src/**/*.ts',
  '{tests,e2e}/**/*.ts',
  '{scripts,bench}/test/**/*.ts',
];

/**
 * Excluded: installed packages, fixtures, mutants (which cite the requirement that they break) and
 * the simulation (which cites the requirement that a run violates).
 */
const LEFT_OUT = /(^|\/)(node_modules|dist|fixtures|mutants|simulation)\/|\/mutants\.ts$/;

const NUMBER = /\b(?:S\d\.\d+|P\d+)\b/g;

/** Modifiers of tests that do not run. */
const IDLE = ['skip', 'todo'];

/**
 * @param {string} root
 * @returns {Citation[]} by file and line
 */
export function citationsIn(root) {
  // Skips node_modules during the search, because it contains too many files.
  const exclude = (/** @type {string} */ path) => path.endsWith('node_modules');
  return globSync(PLACES, { cwd: root, exclude })
    .map(slashed)
    .filter((path) => !LEFT_OUT.test(path))
    .sort()
    .flatMap((path) => citationsOf(path, readFileSync(join(root, path), 'utf8')));
}

/**
 * @param {string} file
 * @param {string} text
 * @returns {Citation[]}
 */
export function citationsOf(file, text) {
  // Parsing is slow, and most files contain no citation.
  if (text.search(NUMBER) < 0) return [];
  const { program, errors } = parseSync(file, text);
  if (errors.length > 0) throw new Error(`${file} cannot be parsed: ${errors[0]?.message}`);
  /** @type {Citation[]} */
  const found = [];
  /** @type {{ end: number, name: string }[]} */
  const around = [];
  visit(program, (node) => {
    while (around.length > 0 && (around.at(-1)?.end ?? 0) <= node.start) around.pop();
    const named = nameAt(node);
    if (named === undefined) return;
    const { kind, name } = named;
    if (kind === 'group') {
      around.push({ end: node.end, name });
      return;
    }
    const own = numbersIn(name);
    const groups = around.map((group) => group.name).reverse();
    const numbers = numbersIn([name, ...groups].join(' '));
    if (numbers.length === 0 || (kind === 'case' && own.length === 0)) return;
    found.push({ file, line: lineAt(text, node.start), name, own, numbers, groups });
  });
  return found;
}

/** @param {string} path */
function slashed(path) {
  return path.split(sep).join('/');
}

/** @param {string} text */
export function numbersIn(text) {
  return [...new Set(text.match(NUMBER) ?? [])];
}

/**
 * Returns the group, test or possible case of a table that a node names; a case counts if it cites a number.
 * @param {any} node
 * @returns {{ kind: 'group' | 'test' | 'case', name: string } | undefined}
 */
function nameAt(node) {
  if (node.type === 'CallExpression') {
    const name = lastOfLeading(node.arguments);
    const chain = chainOf(node.callee);
    if (name === undefined || chain.some((word) => IDLE.includes(word))) return undefined;
    if (chain[0] === 'describe') return { kind: 'group', name };
    return { kind: chain[0] === 'test' || chain[0] === 'it' ? 'test' : 'case', name };
  }
  if (node.type !== 'Property') return undefined;
  // { name: '… [S0.1]' } and { '… [S0.1]': async () => … }
  const isNamed = node.key.name === 'name' && !node.computed;
  const name = isNamed ? words(node.value) : isFunction(node.value) ? words(node.key) : undefined;
  return name === undefined ? undefined : { kind: 'case', name };
}

/**
 * Returns the name, which comes first or after the name of its group: `test('… [S0.1]', …)`, `the('search', '… [S3.13]', …)`.
 * @param {any[]} given
 * @returns {string | undefined}
 */
function lastOfLeading(given) {
  const end = given.findIndex((node) => words(node) === undefined);
  return words(given[(end < 0 ? given.length : end) - 1]);
}

/**
 * Returns the parts of a callee: `test`, `each` for test.each(rows).
 * @param {any} callee
 * @returns {string[]}
 */
function chainOf(callee) {
  switch (callee.type) {
    case 'Identifier':
      return [callee.name];
    case 'MemberExpression':
      return [...chainOf(callee.object), callee.property.name ?? ''];
    case 'CallExpression':
      return chainOf(callee.callee);
    case 'TaggedTemplateExpression':
      return chainOf(callee.tag);
    default:
      return [];
  }
}

/**
 * Returns the text of a literal, without the substitutions of a template.
 * @param {any} node
 * @returns {string | undefined}
 */
function words(node) {
  if (node?.type === 'Literal' && typeof node.value === 'string') return node.value;
  if (node?.type !== 'TemplateLiteral') return undefined;
  return node.quasis.map((/** @type {any} */ quasi) => quasi.value.cooked).join('…');
}

/** @param {any} node */
function isFunction(node) {
  return node.type === 'ArrowFunctionExpression' || node.type === 'FunctionExpression';
}

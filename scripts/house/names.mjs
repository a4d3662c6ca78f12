// Which globals a file uses, and which words its code holds.
import { lineAt, visit } from './source.mjs';

/** @typedef {import('./source.mjs').Source} Source */
/** @typedef {{ name: string, line: number }} Use */

/** TypeScript nodes that wrap an expression; all others are types and vanish. */
const WRAPPERS = new Set([
  'TSAsExpression',
  'TSNonNullExpression',
  'TSSatisfiesExpression',
  'TSTypeAssertion',
  'TSInstantiationExpression',
]);

const SCOPES = new Set([
  'Program',
  'BlockStatement',
  'StaticBlock',
  'SwitchStatement',
  'ForStatement',
  'ForInStatement',
  'ForOfStatement',
  'CatchClause',
  'FunctionDeclaration',
  'FunctionExpression',
  'ArrowFunctionExpression',
  'ClassExpression',
]);

/**
 * The globals a file uses as values: types that name them are harmless, and so is a parameter or a variable
 * of the same name.
 * @param {Source} source
 * @param {Set<string>} globals
 * @param {Set<string>} members written `Object.member`
 * @returns {Use[]}
 */
export function globalUses(source, globals, members) {
  /** @type {Use[]} */
  const uses = [];
  /** @param {any} node @param {string} name */
  const note = (node, name) => uses.push({ name, line: lineAt(source.text, node.start) });

  /** @param {any} node @param {any} parent @param {Set<string>[]} scopes */
  const walk = (node, parent, scopes) => {
    if (node.type.startsWith('TS') && !WRAPPERS.has(node.type)) return;
    const inner = SCOPES.has(node.type) ? [...scopes, declared(node)] : scopes;
    /** @param {string} name */
    const free = (name) => !inner.some((scope) => scope.has(name));
    if (
      node.type === 'Identifier' &&
      globals.has(node.name) &&
      isReference(node, parent) &&
      free(node.name)
    ) {
      note(node, node.name);
    }
    if (node.type === 'MemberExpression' && node.object.type === 'Identifier' && free(node.object.name)) {
      const member = `${node.object.name}.${node.computed ? node.property.value : node.property.name}`;
      if (members.has(member)) note(node, member);
    }
    for (const value of Object.values(node)) {
      for (const child of Array.isArray(value) ? value : [value]) {
        if (typeof child?.type === 'string') walk(child, node, inner);
      }
    }
  };
  walk(source.program, undefined, []);
  return uses;
}

/**
 * Whether an identifier stands for a value, rather than naming a member, a key or an import.
 * @param {any} node
 * @param {any} parent
 */
function isReference(node, parent) {
  switch (parent?.type) {
    case 'MemberExpression':
      return parent.object === node || parent.computed;
    case 'Property':
    case 'PropertyDefinition':
    case 'MethodDefinition':
    case 'AccessorProperty':
      return parent.value === node || parent.computed;
    case 'ImportSpecifier':
    case 'ExportSpecifier':
      return parent.local === node && parent.type === 'ExportSpecifier';
    default:
      return true;
  }
}

/**
 * The names that a scope declares itself.
 * @param {any} scope
 * @returns {Set<string>}
 */
function declared(scope) {
  /** @type {Set<string>} */
  const names = new Set();
  const statements = [scope.body, scope.cases?.flatMap((/** @type {any} */ one) => one.consequent)].flat();
  const patterns = [scope.params, scope.param, scope.id, scope.init, scope.left].flat();
  for (const statement of statements) {
    if (statement) addDeclaration(statement.declaration ?? statement, names);
  }
  for (const pattern of patterns) {
    if (pattern?.type === 'VariableDeclaration') addDeclaration(pattern, names);
    else if (pattern) addPattern(pattern, names);
  }
  return names;
}

/**
 * @param {any} node
 * @param {Set<string>} names
 */
function addDeclaration(node, names) {
  if (node.type === 'VariableDeclaration') for (const one of node.declarations) addPattern(one.id, names);
  else if (node.type === 'FunctionDeclaration' || node.type === 'ClassDeclaration')
    addPattern(node.id, names);
  else if (node.type === 'ImportDeclaration') for (const one of node.specifiers) addPattern(one.local, names);
}

/**
 * @param {any} pattern
 * @param {Set<string>} names
 */
function addPattern(pattern, names) {
  switch (pattern?.type) {
    case 'Identifier':
      names.add(pattern.name);
      break;
    case 'ObjectPattern':
      for (const property of pattern.properties) addPattern(property.value ?? property.argument, names);
      break;
    case 'ArrayPattern':
      for (const element of pattern.elements) addPattern(element, names);
      break;
    case 'AssignmentPattern':
      addPattern(pattern.left, names);
      break;
    case 'RestElement':
      addPattern(pattern.argument, names);
      break;
  }
}

/**
 * The names and texts in a file's code that contain one of the words; comments are free.
 * @param {Source} source
 * @param {RegExp} words
 * @returns {Use[]}
 */
export function wordUses(source, words) {
  /** @type {Use[]} */
  const uses = [];
  visit(source.program, (node) => {
    const name = node.type === 'TemplateElement' ? node.value.raw : (node.name ?? node.value);
    if (typeof name === 'string' && words.test(name))
      uses.push({ name, line: lineAt(source.text, node.start) });
  });
  return uses;
}

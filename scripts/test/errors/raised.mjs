// Finds every error that the sources raise, in syntax trees: its code, its kind or HTTP status, and
// its location.
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseSync } from 'vite';
import { lineAt, visit } from '../../api/source.mjs';
import { relays } from './relays.mjs';

/** @typedef {{ code: string, kind?: string, status?: number, where: string }} Raised */
/** @typedef {{ path: string, text: string, program: any, parents: Map<any, any> }} Tree */
/** @typedef {{ kind?: any, code: any, status?: any }} Spot the expressions of a raised error */

const KINDS = new Set('agent tool timeout rate_limit network invalid auth aborted limit'.split(' '));

/** Code for testing contains fictional errors, except for the scripted agent. */
const madeUp = /\/testing\/(?!scripted-agent\.ts$)|^packages\/conformance\//;

/**
 * @param {string} root
 * @returns {{ raised: Raised[], problems: string[] }} `problems`: errors without a code, or with one that cannot be
 * determined from the sources
 */
export function raisedIn(root) {
  const trees = readTrees(root);
  /** @type {Raised[]} */
  const raised = [];
  /** @type {string[]} */
  const problems = [];
  const unused = new Set(relays);
  for (const tree of trees) {
    visit(tree.program, (node) => {
      const spot = spotOf(node, tree);
      if (spot === undefined) return;
      const where = `${tree.path}:${lineAt(tree.text, node.start)}`;
      const found = outcomes(spot, { tree, trees, depth: 0 });
      if (found !== undefined) return void raised.push(...found.map((one) => ({ ...one, where })));
      const text = tree.text.slice(node.start, node.end);
      const relay = relays.find((one) => one.file === tree.path && text.includes(one.says));
      if (relay === undefined) problems.push(`${where} raises an error whose code cannot be determined`);
      else {
        unused.delete(relay);
        for (const [code, classes] of Object.entries(relay.raises ?? {}))
          raised.push(...classes.map((one) => ({ code, ...classOf(one), where })));
      }
    });
  }
  for (const { file, says } of unused)
    problems.push(`${file} does not raise an error with ${says}: remove this entry`);
  return { raised, problems };
}

/** @param {string | number} one a kind, or an HTTP status */
function classOf(one) {
  return typeof one === 'number' ? { status: one } : { kind: one };
}

/** @param {string} root */
function readTrees(root) {
  const files = globSync('{packages,apps}/*/src/**/*.ts', { cwd: root }).sort();
  return files.flatMap((file) => {
    const path = file.replaceAll('\\', '/');
    const text = readFileSync(join(root, path), 'utf8');
    if (madeUp.test(path) || !/AgentError|ErrorData|Problem\(|UsageError|kind: '/.test(text)) return [];
    const parents = new Map();
    const { program } = parseSync(path, text);
    visit(program, (node, parent) => void parents.set(node, parent));
    return [{ path, text, program, parents }];
  });
}

/**
 * Returns the expressions of the error that a node raises; undefined if it raises none.
 * @param {any} node
 * @param {Tree} tree
 * @returns {Spot | undefined}
 */
function spotOf(node, tree) {
  if (node.type === 'NewExpression' && node.callee.name === 'Problem')
    return { status: node.arguments[0], code: node.arguments[1] };
  if (node.type === 'NewExpression' && node.callee.name === 'UsageError') return { code: usage };
  if (node.type === 'CallExpression' && isCoded(node.callee)) return { code: node.arguments[0] };
  if (node.type === 'NewExpression' && node.callee.name === 'AgentError') {
    const [data] = node.arguments;
    // An error made from data, or from another error, keeps the code of its source.
    if (data?.type !== 'ObjectExpression') return undefined;
    const fields = fieldsOf(data);
    return isCopy(data, tree) && fields.code === undefined ? undefined : fields;
  }
  const parent = tree.parents.get(node);
  if (node.type !== 'ObjectExpression' || parent?.callee?.name === 'AgentError') return undefined;
  const { kind, code, message } = fieldsOf(node);
  if (kind?.type !== 'Literal' || !KINDS.has(kind.value) || (message ?? code) === undefined) return undefined;
  return { kind, code };
}

/**
 * Returns whether an object is a copy of another error with some fields replaced. A kind without a code is not a
 * copy: it has a different cause.
 * @param {any} object
 * @param {Tree} tree
 */
function isCopy({ properties }, { text }) {
  const whole = properties.filter((/** @type {any} */ one) => one.type === 'SpreadElement');
  const says = (/** @type {any} */ one) => text.slice(one.start, one.end);
  return (
    whole.some((/** @type {any} */ one) => says(one).endsWith('.toJSON()')) ||
    (whole.length > 0 && !properties.some((/** @type {any} */ one) => one.key?.name === 'kind'))
  );
}

const usage = { type: 'Literal', value: 'usage' };

/** @param {any} callee */
function isCoded(callee) {
  return callee.object?.name === 'UsageError' && callee.property.name === 'withCode';
}

/**
 * @param {any} object an object literal
 * @returns {Spot & { message?: any }}
 */
function fieldsOf(object) {
  /** @param {string} name */
  const field = (name) =>
    object.properties.find((/** @type {any} */ one) => (one.key?.name ?? one.key?.value) === name)?.value;
  return { kind: field('kind'), code: field('code'), message: field('message') };
}

/** @typedef {{ tree: Tree, trees: Tree[], depth: number }} Place */

/**
 * Returns every pair of code and kind that a node can raise. The arguments of a function are resolved at its calls.
 * @param {Spot} spot
 * @param {Place} place
 * @returns {Omit<Raised, 'where'>[] | undefined} undefined if it cannot be determined
 */
function outcomes(spot, place) {
  const { kind, code, status } = spot;
  if (code === undefined || place.depth > 3) return undefined;
  const given = [kind, code, status]
    .map((part) => part && parameterOf(part, place.tree))
    .find((one) => one?.values === undefined && one);
  if (given) return outcomesOfCalls(spot, given.function, place);
  const codes = valuesOf(code, place.tree);
  const kinds = kind === undefined ? [undefined] : valuesOf(kind, place.tree);
  const statuses = status === undefined ? [undefined] : valuesOf(status, place.tree);
  if (codes === undefined || kinds === undefined || statuses === undefined) return undefined;
  // Assumes that two choices have the same condition, so that their values belong together.
  const pairs =
    kind?.type === 'ConditionalExpression' && kinds.length === codes.length
      ? codes.map((one, at) => [one, kinds[at]])
      : codes.flatMap((one) => kinds.map((other) => [one, other]));
  return pairs.flatMap(([one, other]) =>
    statuses.map((number) => ({
      code: String(one),
      ...(other !== undefined && { kind: String(other) }),
      ...(number !== undefined && { status: Number(number) }),
    })),
  );
}

/**
 * @param {Spot} spot
 * @param {any} called the function that contains the spot
 * @param {Place} place
 */
function outcomesOfCalls(spot, called, { tree, trees, depth }) {
  const calls = callsOf(called, tree, trees);
  const all = calls.map(({ call, from }) => {
    /** @param {any} part */
    const filled = (part) => {
      const parameter = part && parameterOf(part, tree);
      return parameter?.function === called ? call.arguments[parameter.at] : part;
    };
    const { kind, code, status } = spot;
    const given = { kind: filled(kind), code: filled(code), status: filled(status) };
    return outcomes(given, { tree: from, trees, depth: depth + 1 });
  });
  return calls.length === 0 || all.includes(undefined) ? undefined : all.flatMap((one) => one ?? []);
}

/**
 * @param {any} node
 * @param {Tree} tree
 * @returns {{ function: any, at: number, values?: string[] } | undefined} the parameter that a name refers to, and
 * its possible values if its type lists them
 */
function parameterOf(node, tree) {
  if (node.type !== 'Identifier') return undefined;
  for (let at = tree.parents.get(node); at; at = tree.parents.get(at)) {
    const index = at.params?.findIndex?.((/** @type {any} */ one) => (one.left ?? one).name === node.name);
    if (index < 0 || index === undefined) continue;
    const types = at.params[index].typeAnnotation?.typeAnnotation?.types;
    const values = types?.map((/** @type {any} */ one) => one.literal?.value);
    return { function: at, at: index, ...(values?.every(Boolean) && { values }) };
  }
  return undefined;
}

/**
 * @param {any} called
 * @param {Tree} tree
 * @param {Tree[]} trees
 */
function callsOf(called, tree, trees) {
  const parent = tree.parents.get(called);
  const name = called.id?.name ?? parent?.key?.name ?? parent?.id?.name;
  const isExported = parent?.type === 'ExportNamedDeclaration';
  const file = tree.path.split('/').at(-1);
  const callers = trees.filter((one) => one === tree || (isExported && one.text.includes(`/${file}'`)));
  /** @type {{ call: any, from: Tree }[]} */
  const calls = [];
  for (const from of callers) {
    visit(from.program, (node) => {
      if (node.type !== 'CallExpression') return;
      if ((node.callee.name ?? node.callee.property?.name) === name) calls.push({ call: node, from });
    });
  }
  return calls;
}

/**
 * Returns the possible values of an expression, as far as the file shows them.
 * @param {any} node
 * @param {Tree} tree
 * @returns {(string | number)[] | undefined}
 */
function valuesOf(node, tree) {
  switch (node.type) {
    case 'Literal':
      return [node.value];
    case 'ConditionalExpression': {
      const [one, other] = [valuesOf(node.consequent, tree), valuesOf(node.alternate, tree)];
      return one && other && [...one, ...other];
    }
    case 'Identifier': {
      const typed = parameterOf(node, tree)?.values;
      if (typed !== undefined) return typed;
      /** @type {any} */
      let found;
      visit(tree.program, ({ type, kind, declarations }) => {
        // A `let` can have any value later.
        if (type === 'VariableDeclaration' && kind === 'const')
          found ??= declarations.find((/** @type {any} */ one) => one.id.name === node.name)?.init;
      });
      return found && valuesOf(found, tree);
    }
    case 'TSAsExpression':
    case 'TSSatisfiesExpression':
      return valuesOf(node.expression, tree);
    default:
      return undefined;
  }
}

// Converts the declaration of an exported name to text: everything that a program using it depends on, without
// bodies, private members and comments. Every exported declaration names its types, so the syntax is sufficient.

/** @typedef {import('./source.mjs').Source} Source */
/** @typedef {import('./exports.mjs').Exported} Exported */

/**
 * @param {Exported} exported
 * @returns {string} lines as formatted in the source
 */
export function declarationOf({ name, source, statements, external }) {
  if (!source) return `${name} // of ${external}`;
  return statements.map((statement) => statementText(source, statement.declaration ?? statement)).join('\n');
}

/**
 * @param {Source} source
 * @param {any} node
 */
function statementText(source, node) {
  switch (node.type) {
    case 'ClassDeclaration':
      return classText(source, node);
    case 'VariableDeclaration':
      return node.declarations.map((/** @type {any} */ one) => constantText(source, one)).join('\n');
    case 'FunctionDeclaration':
      return `${textOf(source, node.start, node.body.start).trimEnd()};`;
    default:
      return textOf(source, node.start, node.end);
  }
}

/**
 * Returns the declaration with its type, or with its value if the value is the type.
 * @param {Source} source
 * @param {any} node
 */
function constantText(source, node) {
  const end = node.id.typeAnnotation ? node.id.end : node.end;
  return `const ${textOf(source, node.start, end)};`;
}

/**
 * @param {Source} source
 * @param {any} node
 */
function classText(source, node) {
  const members = node.body.body
    .filter(isPublic)
    .map((/** @type {any} */ member) => `  ${memberText(source, member)}`);
  return [`${textOf(source, node.start, node.body.start).trimEnd()} {`, ...members, '}'].join('\n');
}

/** @param {any} member */
function isPublic(member) {
  if (member.type === 'StaticBlock' || member.key?.type === 'PrivateIdentifier') return false;
  return member.accessibility !== 'private';
}

/**
 * @param {Source} source
 * @param {any} member
 */
function memberText(source, member) {
  const body = member.value?.body;
  if (body) return `${textOf(source, member.start, body.start).trimEnd()};`;
  const end = member.typeAnnotation?.end ?? member.end;
  return `${textOf(source, member.start, end).replace(/;$/, '')};`;
}

/**
 * Returns part of a file without its comments and the lines that become empty.
 * @param {Source} source
 * @param {number} start
 * @param {number} end
 */
function textOf({ text, comments }, start, end) {
  let kept = '';
  let at = start;
  for (const comment of comments) {
    if (comment.start < at || comment.end > end) continue;
    kept += text.slice(at, comment.start);
    at = comment.end;
  }
  kept += text.slice(at, end);
  return kept
    .split('\n')
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')
    .join('\n');
}

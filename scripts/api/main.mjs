// What each package offers, kept beside it in api.md so that a change of it is seen and reviewed:
//
//   npm run generate -- api              writes the files
//   node scripts/api/main.mjs --check    prints what differs from them and which exports have no doc comment, and exits 1
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { declarationOf } from './declaration.mjs';
import { entriesOf, isDocumented, publishedPackages } from './exports.mjs';
import { lineAt, readProject } from './source.mjs';

/** @typedef {import('./exports.mjs').Entry} Entry */

const heading = (/** @type {string} */ name) => `# What ${name} offers

Every name that can be imported and how it is declared. Written by \`npm run generate -- api\`; changes by hand are lost.
`;

/**
 * The texts of all packages, by path from the root.
 * @param {string} root
 * @returns {Map<string, string>}
 */
export function apiFiles(root) {
  const project = readProject(root, ['packages/*/src', 'apps/*/src']);
  return new Map(
    publishedPackages(project).map((target) => {
      const sections = sectionsOf(entriesOf(project, target));
      return [`${target.folder}/api.md`, [heading(target.name), ...sections].join('\n')];
    }),
  );
}

/**
 * A section for each entry. What two entries share is declared in the first of them.
 * @param {Entry[]} entries
 * @returns {string[]}
 */
function sectionsOf(entries) {
  /** @type {Map<string, string>} where a declaration was told, by its text */
  const told = new Map();
  return entries.map(({ specifier, names }) => {
    const lines = names.map((exported) => {
      const text = declarationOf(exported);
      const place = `${exported.source?.path ?? exported.external}\n${text}`;
      const before = told.get(place);
      if (before !== undefined) return `${exported.name} // ${before}`;
      told.set(place, `${exported.name} of ${specifier}`);
      return text;
    });
    return `## ${specifier}\n\n\`\`\`ts\n${lines.join('\n\n')}\n\`\`\`\n`;
  });
}

/**
 * Returns the place and the name of every export without a doc comment. One comment is enough for all overloads.
 * @param {string} root
 * @returns {string[]}
 */
export function undocumented(root) {
  const project = readProject(root, ['packages/*/src', 'apps/*/src']);
  const entries = publishedPackages(project).flatMap((target) => entriesOf(project, target));
  const bare = entries.flatMap(({ specifier, names }) =>
    names.flatMap(({ name, source, statements }) => {
      const [first] = statements;
      if (!source || !first || statements.some((statement) => isDocumented(source, statement))) return [];
      return `${source.path}:${lineAt(source.text, first.start)}  ${name} of ${specifier} has no doc comment`;
    }),
  );
  return [...new Set(bare)];
}

/**
 * What differs between two of these texts, declaration by declaration: `-` for what was kept, `+` for what is.
 * @param {string} kept
 * @param {string} now
 * @returns {string[]}
 */
export function differences(kept, now) {
  const [before, after] = [blocks(kept), blocks(now)];
  return [
    ...[...before].filter((block) => !after.has(block)).map((block) => block.replace(/^/gm, '- ')),
    ...[...after].filter((block) => !before.has(block)).map((block) => block.replace(/^/gm, '+ ')),
  ];
}

/** @param {string} text */
function blocks(text) {
  return new Set(text.split(/\n(?:\n|```.*\n)+/));
}

/**
 * @param {string} root
 * @param {boolean} check
 * @returns {number} the exit code
 */
function main(root, check) {
  const stale = [...apiFiles(root)].filter(([path, text]) => {
    const file = join(root, path);
    const kept = existsSync(file) ? readFileSync(file, 'utf8') : '';
    if (kept === text) return false;
    if (!check) writeFileSync(file, text);
    process.stdout.write(check ? `${[path, ...differences(kept, text)].join('\n')}\n` : `wrote ${path}\n`);
    return true;
  });
  if (!check) return 0;
  const bare = undocumented(root);
  for (const line of bare) process.stdout.write(`${line}. Add its meaning, units and errors above it.\n`);
  if (stale.length > 0)
    process.stdout.write(
      "What packages offer has changed. If that is meant, run 'npm run generate -- api' and review the files.\n",
    );
  return stale.length + bare.length > 0 ? 1 : 0;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main(dirname(dirname(dirname(process.argv[1]))), process.argv.includes('--check'));
}

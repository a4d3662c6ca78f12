// What each package offers, kept beside it in api.md so that a change of it is seen and reviewed:
//
//   npm run generate -- api              writes the files anew
//   node scripts/api.mjs --check   tells what differs from them and exits 1
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { declarationOf } from './house/declaration.mjs';
import { entriesOf, publishedPackages } from './house/exports.mjs';
import { readProject } from './house/source.mjs';

/** @typedef {import('./house/exports.mjs').Entry} Entry */

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
  if (!check || stale.length === 0) return 0;
  process.stdout.write(
    "What packages offer has changed. If that is meant, run 'npm run generate -- api' and review the files.\n",
  );
  return 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  process.exitCode = main(dirname(dirname(process.argv[1])), process.argv.includes('--check'));
}

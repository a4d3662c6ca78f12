// npm run new -- provider|channel|store|tool NAME   [--dry-run] [--no-install]
//
// Creates a package, or a tool and its test, from a template in templates/, and registers it where necessary. The
// result builds and passes all checks of the project; its contract fails until it is implemented.
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { apiFiles } from './api/main.mjs';
import { capture, Refusal } from './child.mjs';
import { kinds } from './new/kinds.mjs';
import { checkName, renamed } from './new/spelling.mjs';

const home = dirname(dirname(fileURLToPath(import.meta.url)));
const usage = `The arguments are missing. Use: npm run new -- ${Object.keys(kinds).join('|')} NAME [--dry-run] [--no-install]`;

/** @typedef {Map<string, string>} Files contents to write, by path */

/**
 * @param {string} root
 * @param {string} kind
 * @param {string} name
 * @returns {Files} the files from the template; never overwrites existing ones
 */
function made(root, kind, name) {
  const template = join(home, 'templates', kind);
  /** @type {Files} */
  const files = new Map();
  for (const entry of readdirSync(template, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    const inside = renamed(from.slice(template.length + 1), name);
    files.set(join(kinds[kind]?.folder(name) ?? '', inside), renamed(readFileSync(from, 'utf8'), name));
  }
  const folder = kinds[kind]?.folder(name) ?? '';
  const taken = kinds[kind]?.contract ? [folder] : [...files.keys()];
  const there = taken.find((path) => existsSync(join(root, path)));
  if (there !== undefined) throw new Refusal(`${there} already exists. Use another name, or remove it.`);
  return files;
}

/**
 * Returns the existing files that change: for a tool, the index of its package. A new package needs no changes
 * elsewhere; scripts/house.json has rules for its kind.
 * @param {string} root
 * @param {string} kind
 * @param {string} name
 * @returns {Files}
 */
function known(root, kind, name) {
  if (kind !== 'tool') return new Map();
  const index = 'packages/tools/src/index.ts';
  const line = renamed("export { type YourOwnArgs, yourOwn } from './your-own.ts';\n", name);
  return new Map([[index, readFileSync(join(root, index), 'utf8') + line]]);
}

/**
 * @param {string} root
 * @param {string} command
 * @param {string[]} args
 */
async function must(root, command, args) {
  const { code, output } = await capture(command, args, { cwd: root, env: process.env });
  if (code !== 0) throw new Refusal(`${command} ${args[0]} failed:\n${output.trimEnd()}`);
}

/**
 * Writes the api.md of the new package.
 * @param {string} root
 * @param {string} folder
 */
function writeApi(root, folder) {
  const path = `${folder}/api.md`;
  const text = apiFiles(root).get(path);
  if (text !== undefined) writeFileSync(join(root, path), text);
}

/** @param {string[]} words */
async function main(words) {
  const { values, positionals } = parseArgs({
    args: words,
    allowPositionals: true,
    options: {
      'dry-run': { type: 'boolean' },
      'no-install': { type: 'boolean' },
      root: { type: 'string', default: home },
    },
  });
  const [kind = '', given = '', ...rest] = positionals;
  // Tool names contain underscores; file names contain hyphens.
  const name = kind === 'tool' ? given.replaceAll('_', '-') : given;
  if (!Object.hasOwn(kinds, kind) || name === '' || rest.length > 0) throw new Refusal(usage);
  const { root } = values;
  checkName(name, JSON.parse(readFileSync(join(root, 'scripts/house.json'), 'utf8')).forbiddenNames);
  const files = made(root, kind, name);
  const changed = known(root, kind, name);
  const say = (/** @type {string} */ text) => process.stdout.write(`${text}\n`);
  const verb = values['dry-run'] ? 'would write' : 'wrote';
  for (const path of files.keys()) say(`${verb}  ${path}`);
  for (const path of changed.keys()) say(`${values['dry-run'] ? 'would change' : 'changed'}  ${path}`);
  if (values['dry-run']) return;
  for (const [path, text] of [...files, ...changed]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  // A name that is longer or shorter than the placeholder changes line breaks and sort order.
  const written = [...files.keys(), ...changed.keys()].filter((path) => !path.endsWith('.md'));
  await must(root, 'biome', ['check', '--write', ...written]);
  writeApi(root, kinds[kind]?.folder(name) ?? '');
  if (kinds[kind]?.contract && !values['no-install'])
    await must(root, 'pnpm', ['install', '--no-frozen-lockfile', '--prefer-offline']);
  say('\nNow:');
  for (const [at, step] of (kinds[kind]?.steps(name) ?? []).entries()) say(`  ${at + 1}. ${step}`);
}

main(process.argv.slice(2)).catch((error) => {
  const isWords = error instanceof Refusal || String(error?.code).startsWith('ERR_PARSE_ARGS');
  process.stderr.write(`cobbler: ${isWords ? error.message : (error?.stack ?? error)}\n`);
  process.exitCode = 1;
});

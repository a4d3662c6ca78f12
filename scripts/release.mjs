// npm run release            runs all tests, writes a software bill of materials (SBOM) for each published package and
//                            publishes the versions in the package.json files
//                            with a statement of their origin (provenance), which only a CI service can sign
// npm run release -- --no-provenance   publishes without it
// npm run release -- --dry   shows versions, changelogs and packages of the next release, in a copy of the last commit
import { globSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { handOver, Refusal } from './child.mjs';
import { provenanceProblem } from './supply/provenance.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * @param {string} command
 * @param {string} [cwd]
 * @param {NodeJS.ProcessEnv} [more] added to the environment
 */
async function run(command, cwd = root, more = {}) {
  const [program = '', ...args] = command.split(' ');
  const code = await handOver(program, args, { cwd, env: { ...process.env, ...more } });
  if (code !== 0) throw new Refusal(`Cannot release: ${command} ended with ${code}. See its output above.`);
}

/** @param {string} folder */
const changesets = (folder) =>
  globSync('.changeset/!(README).md', { cwd: folder }).map((name) => join(folder, name));

/**
 * Returns the manifests of the published packages.
 * @param {string} folder
 * @returns {{ name: string, version: string, repository?: string | { url?: string } }[]}
 */
function manifestsIn(folder) {
  const files = globSync('{packages,apps}/*/package.json', { cwd: folder });
  const manifests = files.map((file) => JSON.parse(readFileSync(join(folder, file), 'utf8')));
  return manifests.filter((manifest) => manifest.private !== true);
}

/**
 * Returns the versions of the published packages.
 * @param {string} folder
 */
function versions(folder) {
  return new Set(manifestsIn(folder).map(({ version }) => version));
}

/** @param {Set<string>} versions */
const majorOf = ([version = '']) => version.split('.')[0];

/** @param {boolean} hasProvenance */
async function release(hasProvenance) {
  const problem = hasProvenance ? provenanceProblem(process.env, manifestsIn(root)) : undefined;
  if (problem !== undefined)
    throw new Refusal(
      `Cannot release with provenance: ${problem} To publish without it, add --no-provenance.`,
    );
  if (changesets(root).length > 0)
    throw new Refusal(
      'Cannot release: there are changesets. Run `npm run exec -- changeset version`, review and commit the changelogs, and try again.',
    );
  await run('git diff --quiet HEAD');
  // Unlike the setup, this asks the registry for the age of each package in the lockfile.
  await run('pnpm install --frozen-lockfile --lockfile-only');
  await run('npm test');
  await run('npm run verify');
  await run('npm run verify -- packed');
  await writeSboms(root);
  await run('changeset publish', root, { PNPM_CONFIG_PROVENANCE: String(hasProvenance) });
}

/**
 * Writes the dependencies of each published package, as pnpm-lock.yaml pins them, to `sbom/` in CycloneDX format.
 * @param {string} folder
 */
async function writeSboms(folder) {
  const names = manifestsIn(folder).map(({ name }) => `--filter=${name}`);
  const format = '--sbom-format=cyclonedx --prod --lockfile-only --split';
  await run(`pnpm sbom ${format} --out=sbom/%s-%v.cdx.json ${names.join(' ')}`, folder);
}

async function preview() {
  const copy = join(mkdtempSync(join(tmpdir(), 'cobbler-release-')), 'copy');
  await run(`git worktree add --quiet --detach ${copy}`);
  try {
    symlinkSync(join(root, 'node_modules'), join(copy, 'node_modules'));
    const before = versions(copy);
    const isMajor = changesets(copy).some((file) => /: major$/m.test(readFileSync(file, 'utf8')));
    await run('changeset version', copy);
    const after = versions(copy);
    if (after.size !== 1 || (!isMajor && majorOf(after) !== majorOf(before)))
      throw new Refusal(
        `Cannot release: the versions would be ${[...after].join(', ')}. Correct the changesets.`,
      );
    await run('git add --intent-to-add packages apps', copy);
    await run('git --no-pager diff --stat -- packages apps', copy);
    await writeSboms(copy);
    await run('pnpm publish -r --dry-run --no-git-checks --ignore-scripts', copy);
  } finally {
    await run(`git worktree remove --force ${copy}`);
    rmSync(dirname(copy), { recursive: true, force: true });
  }
}

const words = process.argv.slice(2).join(' ');
try {
  if (words === '' || words === '--no-provenance') await release(words === '');
  else if (words === '--dry') await preview();
  else
    throw new Refusal(
      `Cannot release: unknown argument "${words}". Use --dry, --no-provenance, or no argument.`,
    );
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  process.stderr.write(`release: ${error.message}\n`);
  process.exitCode = 1;
}

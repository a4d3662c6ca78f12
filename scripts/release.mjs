// Publishes what has been given a version, after all tests: npm run release. What that would do, without doing it, and on a
// copy, so that the tree stays as it is: npm run release -- --dry.
import { cpSync, existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { capture, handOver, Refusal } from './child.mjs';
import { cleanEnvironment } from './setup.mjs';
import { runSuite } from './suite.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const env = cleanEnvironment(process.env);

/** @typedef {{ name: string, version: string, private?: boolean, folder: string }} Package */

await runSuite('release', async (words) => {
  if (words.length === 0) return release();
  if (words.join() === '--dry') return rehearse();
  throw new Refusal('release takes no words, or --dry.');
});

async function release() {
  const waiting = changesets(root);
  if (waiting.length > 0) {
    throw new Refusal(
      `${waiting.length} changesets wait for a version. Run 'npm run exec -- changeset version', look at the CHANGELOGs ` +
        "and commit them; then run 'npm run release' again.",
    );
  }
  if ((await must('git', ['status', '--porcelain'], root)) !== '')
    throw new Refusal(
      'The tree has changes that are not committed. What is published has to be found again.',
    );
  for (const args of [['test'], ['run', 'verify'], ['run', 'verify', '--', 'packed']]) {
    const code = await handOver('npm', args, { cwd: root, env });
    if (code !== 0) return code;
  }
  return handOver('changeset', ['publish'], { cwd: root, env });
}

/** Gives versions and writes the CHANGELOGs in a copy, and goes through the publishing of it without a word to anybody. */
async function rehearse() {
  const copy = mkdtempSync(join(tmpdir(), 'cobbler-release-'));
  try {
    await copyTree(copy);
    const before = packages(copy);
    const waiting = changesets(copy).length;
    await must('changeset', ['version'], copy);
    const after = packages(copy);
    const wrong = complaints(copy, before, after, waiting);
    const told = await must(
      'pnpm',
      ['publish', '-r', '--dry-run', '--no-git-checks', '--ignore-scripts'],
      copy,
    );
    for (const { name, version } of after.filter(isPublic))
      if (!told.includes(`${name}@${version}`)) wrong.push(`${name} would not be published.`);
    process.stdout.write(`${tableOf(copy, before, after)}\n`);
    for (const complaint of wrong) process.stdout.write(`release: ${complaint}\n`);
    const count = after.filter(isPublic).length;
    process.stdout.write(
      `${waiting} changesets, ${count} packages would be published, ${wrong.length} wrong\n`,
    );
    return wrong.length > 0 ? 1 : 0;
  } finally {
    rmSync(copy, { recursive: true, force: true });
  }
}

/**
 * What git has, as it stands in the working tree, with a history of one commit: changesets are looked up in it.
 * @param {string} copy
 */
async function copyTree(copy) {
  const listed = await must('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], root);
  for (const path of new Set(listed.split('\0').filter(Boolean)))
    if (existsSync(join(root, path))) cpSync(join(root, path), join(copy, path));
  const author = ['-c', 'user.name=rehearsal', '-c', 'user.email=rehearsal@example.invalid'];
  await must('git', ['init', '--quiet', '--initial-branch=main'], copy);
  await must('git', ['add', '--all'], copy);
  await must('git', [...author, 'commit', '--quiet', '--message', 'rehearsal'], copy);
}

/**
 * @param {string} copy
 * @param {Package[]} before
 * @param {Package[]} after
 * @param {number} waiting
 * @returns {string[]}
 */
function complaints(copy, before, after, waiting) {
  const wrong = [];
  const versions = new Set(after.filter(isPublic).map(({ version }) => version));
  if (versions.size !== 1) wrong.push(`The packages have ${versions.size} versions; they are to have one.`);
  for (const { name, version, folder } of after) {
    const old = before.find((one) => one.name === name)?.version;
    const [major] = version.split('.');
    if (isPrivate(after, name) && version !== old) wrong.push(`${name} is private and became ${version}.`);
    if (major !== old?.split('.')[0] && !asks(root, 'major'))
      wrong.push(`${name} became ${version}: nobody asked for that.`);
    if (waiting > 0 && !isPrivate(after, name) && !existsSync(join(folder, 'CHANGELOG.md')))
      wrong.push(`${name} has no CHANGELOG.md.`);
  }
  const left = changesets(copy);
  if (left.length > 0) wrong.push(`${left.join(', ')} took no effect.`);
  return wrong;
}

/**
 * @param {string} copy
 * @param {Package[]} before
 * @param {Package[]} after
 */
function tableOf(copy, before, after) {
  return after
    .filter(isPublic)
    .map(({ name, version, folder }) => {
      const old = before.find((one) => one.name === name)?.version;
      const file = join(folder, 'CHANGELOG.md');
      const entries = existsSync(file) ? (readFileSync(file, 'utf8').match(/^- /gm)?.length ?? 0) : 0;
      return `${name.padEnd(28)} ${old} -> ${version}   ${entries} entries in ${folder.slice(copy.length + 1)}/CHANGELOG.md`;
    })
    .join('\n');
}

/**
 * @param {string} place
 * @returns {Package[]}
 */
function packages(place) {
  const folders = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(place, group)).map((name) => join(place, group, name)),
  );
  return folders
    .filter((folder) => existsSync(join(folder, 'package.json')))
    .map((folder) => ({ ...JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8')), folder }));
}

/** @param {Package} one */
function isPublic(one) {
  return one.private !== true;
}

/**
 * @param {Package[]} all
 * @param {string} name
 */
function isPrivate(all, name) {
  return all.some((one) => one.name === name && !isPublic(one));
}

/** @param {string} place */
function changesets(place) {
  return readdirSync(join(place, '.changeset')).filter((name) => /\.md$/.test(name) && name !== 'README.md');
}

/**
 * @param {string} place
 * @param {string} bump
 */
function asks(place, bump) {
  return changesets(place).some((name) =>
    new RegExp(`^['"]@cobbler/.*: ${bump}$`, 'm').test(readFileSync(join(place, '.changeset', name), 'utf8')),
  );
}

/**
 * @param {string} command
 * @param {string[]} args
 * @param {string} cwd
 */
async function must(command, args, cwd) {
  const { code, output } = await capture(command, args, { cwd, env });
  if (code === 0) return output.trim();
  throw new Refusal(
    `${command} ${args.join(' ')} failed:\n${output.trim().split('\n').slice(-12).join('\n')}`,
  );
}

// Sets up a clone: a recent Node, pnpm, and the packages of the lockfile. Plain JavaScript without dependencies,
// because it runs before there are any, on any Node from version 18.
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { capture, Refusal, tell } from './child.mjs';
import { changedTools } from './supply/tool-digests.mjs';

/** The Node to download if the machine's own is too old to run TypeScript sources. */
const NODE = '24.21.0';

/** The platforms for which npm has a package with that Node. */
const NODE_PACKAGES = ['linux-x64', 'linux-arm64', 'win-x64'];

/**
 * Settings that npm passes to its scripts and that a nested npm or pnpm may also use. The others
 * would change the behavior of the nested process.
 */
const KEPT_NPM_SETTINGS =
  /^npm_config_(cache|registry|userconfig|globalconfig|proxy|https_proxy|noproxy|ca|cafile|strict_ssl)$/;

const NO_NETWORK =
  /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENETUNREACH|EHOSTUNREACH|dns error|error sending request|client error \(Connect\)/i;

/**
 * @typedef {object} Tools
 * @property {string} node path of a Node that runs TypeScript sources
 * @property {NodeJS.ProcessEnv} env environment with node, pnpm and the workspace's commands on the PATH
 */

/**
 * Sets up the missing parts; returns quickly if everything is present.
 * @param {string} root
 * @param {{ install?: boolean }} [options] without `install`, the packages remain unchanged
 * @returns {Promise<Tools>}
 */
export async function setUp(root, { install = true } = {}) {
  const manifest = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const wanted = wantedTools(manifest.packageManager);
  const home = join(
    cacheFolder(),
    `${process.platform}-${process.arch}`,
    wanted.join('+').replaceAll('@', '-'),
  );
  if (!existsSync(join(home, 'ok'))) await fetchTools(home, wanted);

  const bin = join(home, 'node_modules', '.bin');
  const ownNode = wanted.length > 1;
  const node = ownNode ? nodeBinary(home, wanted[1] ?? '') : process.execPath;
  const path = [
    bin,
    join(root, 'node_modules', '.bin'),
    ownNode ? '' : dirname(node),
    process.env.PATH ?? '',
  ];
  const env = {
    ...cleanEnvironment(process.env),
    PATH: path.filter(Boolean).join(delimiter),
    TURBO_TELEMETRY_DISABLED: '1',
    DO_NOT_TRACK: '1',
  };
  if (install) {
    await installPackages(root, manifest.packageManager, env);
    linkPnpm(root, bin);
  }
  return { node, env };
}

/**
 * Returns the environment without npm's own additions: a project's `npm start` must not affect an npm that runs
 * inside it.
 * @param {NodeJS.ProcessEnv} env
 * @returns {NodeJS.ProcessEnv}
 */
export function cleanEnvironment(env) {
  const names = Object.keys(env).filter(
    (name) => !/^(npm_|INIT_CWD$)/i.test(name) || KEPT_NPM_SETTINGS.test(name.toLowerCase()),
  );
  return Object.fromEntries(names.map((name) => [name, env[name]]));
}

/**
 * Returns the PATH without the directories that npm prepends.
 * @param {string} path
 * @returns {string}
 */
export function userPath(path) {
  const folders = path.split(delimiter);
  const first = folders.findIndex((folder) => !/[\\/](node_modules[\\/]\.bin|node-gyp-bin)$/.test(folder));
  return folders.slice(Math.max(first, 0)).join(delimiter);
}

/**
 * Returns the packages to download: pnpm always, Node only if the running one is too old.
 * @param {string} pnpm `pnpm@version` of package.json
 * @returns {string[]}
 */
function wantedTools(pnpm) {
  const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
  if (major >= 24 || (major === 22 && minor >= 18)) return [pnpm];
  const system = process.platform === 'win32' ? 'win' : process.platform;
  const platform = `${system}-${process.arch}`;
  if (NODE_PACKAGES.includes(platform)) return [pnpm, `node-${platform}@${NODE}`];
  throw new Refusal(
    `Cobbler needs Node 22.18 or newer; this is ${process.versions.node}, and npm has no Node ${NODE} for ` +
      `${platform}. Install Node 24 (nodejs.org, or your package manager) and run the same command again.`,
  );
}

function cacheFolder() {
  const base = process.env.XDG_CACHE_HOME || (process.platform === 'win32' && process.env.LOCALAPPDATA);
  return join(base || join(homedir(), '.cache'), 'cobbler-dev');
}

/**
 * @param {string} home
 * @param {string} spec `node-<platform>@<version>`
 */
function nodeBinary(home, spec) {
  const folder = join(home, 'node_modules', spec.slice(0, spec.lastIndexOf('@')), 'bin');
  return join(folder, process.platform === 'win32' ? 'node.exe' : 'node');
}

/**
 * Installs the tools next to their final location and then moves them there, so that two clones can do it at the same
 * time and an interruption leaves nothing incomplete.
 * @param {string} home
 * @param {string[]} wanted
 */
async function fetchTools(home, wanted) {
  const draft = `${home}.${process.pid}`;
  try {
    mkdirSync(draft, { recursive: true });
    // Without a manifest here, npm would install into the nearest project above.
    writeFileSync(join(draft, 'package.json'), '{"private":true}\n');
  } catch (error) {
    throw new Refusal(
      `Cannot write ${draft} (${message(error)}). Set XDG_CACHE_HOME to a writable directory.`,
    );
  }
  try {
    // Scripts run only after the digests were compared.
    const quiet = [
      '--ignore-scripts',
      '--no-save',
      '--no-package-lock',
      '--no-audit',
      '--no-fund',
      '--loglevel=error',
    ];
    const patience = ['--fetch-retries=1', '--fetch-retry-mintimeout=1000', '--prefer-offline'];
    const label = `fetching ${wanted.join(' and ')} (once)`;
    const args = ['install', '--prefix', draft, ...quiet, ...patience, ...wanted];
    const { code, output } = await tell(label, () => npm(args, draft));
    if (code !== 0) throw failure(`npm could not fetch ${wanted.join(' and ')}`, output);
    const lock = JSON.parse(readFileSync(join(draft, 'node_modules', '.package-lock.json'), 'utf8'));
    const changed = changedTools(lock, wanted);
    if (changed.length > 0)
      throw new Refusal(
        `The registry returned ${changed.join(', ')} with another digest than scripts/supply/tool-digests.mjs, so nothing was run. ` +
          'Check npm_config_registry; if you have changed the version of a tool, update its digest there.',
      );
    const built = await npm(['rebuild', '--prefix', draft, 'pnpm'], draft);
    if (built.code !== 0) throw failure('npm could not set up pnpm', built.output);
    writeFileSync(join(draft, 'ok'), '');
    try {
      renameSync(draft, home);
    } catch (error) {
      // Another clone has installed the same tools in the meantime.
      if (!existsSync(join(home, 'ok')))
        throw new Refusal(`Cannot move ${draft} into place: ${message(error)}`);
    }
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

/**
 * @param {string[]} args
 * @param {string} cwd
 */
function npm(args, cwd) {
  const env = cleanEnvironment(process.env);
  const script = process.env.npm_execpath;
  return script?.endsWith('.js')
    ? capture(process.execPath, [script, ...args], { cwd, env })
    : capture('npm', args, { cwd, env });
}

/**
 * Installs the lockfile's packages unless they are already installed.
 * @param {string} root
 * @param {string} pnpm `pnpm@version`
 * @param {NodeJS.ProcessEnv} env
 */
async function installPackages(root, pnpm, env) {
  const stamp = join(root, 'node_modules', '.cobbler-stamp');
  const state = fingerprint(root, pnpm);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === state) return;
  // The age of a version counts when it is chosen. Checking it again here would need the network for every package.
  const age = '--config.minimumReleaseAge=0';
  const args = ['install', '--frozen-lockfile', '--prefer-offline', '--reporter=append-only', age];
  const { code, output } = await tell('installing the packages of pnpm-lock.yaml', () =>
    capture('pnpm', [...args, '--config.confirmModulesPurge=false'], { cwd: root, env }),
  );
  if (/ERR_PNPM_(OUTDATED_LOCKFILE|PACKAGE_MANAGER_NO_IMPORTER)/.test(output)) {
    throw new Refusal(
      'Cannot install the packages: pnpm-lock.yaml does not match the package.json files. ' +
        'Update it with: npm run exec -- pnpm install --no-frozen-lockfile',
    );
  }
  if (code !== 0) throw failure('pnpm could not install the packages', output);
  writeFileSync(stamp, state);
}

/**
 * Links pnpm next to the other commands, where `npx turbo` finds it on a machine without pnpm.
 * @param {string} root
 * @param {string} bin directory of pnpm
 */
function linkPnpm(root, bin) {
  const link = join(root, 'node_modules', '.bin', 'pnpm');
  if (process.platform === 'win32' || existsSync(link)) return;
  // A link to a deleted cache still exists but has no target.
  rmSync(link, { force: true });
  symlinkSync(join(bin, 'pnpm'), link);
}

/**
 * Returns a value that changes whenever an installation could have a different result. The version of Node is not part
 * of it: no package is compiled for one.
 * @param {string} root
 * @param {string} pnpm
 */
function fingerprint(root, pnpm) {
  const hash = createHash('sha256').update(`${pnpm} ${process.platform} ${process.arch}`);
  const files = ['pnpm-lock.yaml', 'pnpm-workspace.yaml', '.npmrc'];
  const groups = ['packages', 'apps'].flatMap((group) =>
    readdirSync(join(root, group)).map((name) => join(group, name)),
  );
  for (const folder of ['.', 'bench', 'examples', 'tests', 'scripts', ...groups.sort()])
    files.push(join(folder, 'package.json'));
  for (const file of files.filter((name) => existsSync(join(root, name)))) {
    hash.update(file).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex');
}

/**
 * @param {string} what the step that failed
 * @param {string} output what the failed command printed
 */
function failure(what, output) {
  if (NO_NETWORK.test(output)) {
    return new Refusal(
      `${what}: the package registry cannot be reached. The first run needs the network once (with ` +
        'HTTPS_PROXY set, behind a proxy); later runs do not. Connect and run the same command again.',
    );
  }
  const last = output.trim().split('\n').slice(-12).join('\n');
  return new Refusal(`${what}. Its output:\n${last}\nFix that and run the same command again.`);
}

/** @param {unknown} error */
function message(error) {
  return error instanceof Error ? error.message : String(error);
}

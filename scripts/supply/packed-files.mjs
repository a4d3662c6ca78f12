/**
 * @typedef {{ path: string, type: string, content: Uint8Array }} Entry an entry of a tarball; the type `0` is a file
 * @typedef {{ files?: readonly string[], scripts?: Record<string, string>, dependencies?: Record<string, string>,
 *   peerDependencies?: Record<string, string>, optionalDependencies?: Record<string, string> }} Manifest
 */

/**
 * Returns the entries of an uncompressed tarball.
 * @param {Uint8Array} bytes
 * @returns {Entry[]}
 */
export function tarEntries(bytes) {
  /** @type {Entry[]} */
  const entries = [];
  const text = (/** @type {number} */ from, /** @type {number} */ length) =>
    String.fromCharCode(...bytes.subarray(from, from + length)).replace(/\0.*$/s, '');
  for (let at = 0; at + 512 <= bytes.length && bytes[at] !== 0; ) {
    const prefix = text(at + 345, 155);
    const path = (prefix && `${prefix}/`) + text(at, 100);
    const size = Number.parseInt(text(at + 124, 12), 8);
    entries.push({
      path,
      type: text(at + 156, 1) || '0',
      content: bytes.subarray(at + 512, at + 512 + size),
    });
    at += 512 + Math.ceil(size / 512) * 512;
  }
  return entries;
}

const always = /^(package\.json|README\.md|LICENSE|CHANGELOG\.md)$/;
const hidden =
  /(^|\/)(\.|node_modules\/)|^dist\/(.*\/)?(tests?|faces)\/|^dist\/.*\.(test|spec|slow)\.|(?<!\.d)\.tsx?$/;
const elsewhere = /^(workspace|file|link|git|github|https?)[:+]|^[\w-]+\//;

/**
 * Returns what a package to publish must not contain: other files than its manifest lists, sources, tests, hidden
 * files, links, scripts that an installation runs, and dependencies from elsewhere than the registry.
 * @param {readonly Entry[]} entries
 * @returns {string[]}
 */
export function packedProblems(entries) {
  const manifest = manifestIn(entries);
  const { files = [], scripts = {} } = manifest;
  const isListed = (/** @type {string} */ path) =>
    always.test(path) || files.some((name) => path === name || path.startsWith(`${name}/`));
  const odd = entries.filter(({ path, type }) => {
    const inside = path.replace(/^package\//, '');
    return type !== '0' || inside === path || path.includes('\\') || hidden.test(inside) || !isListed(inside);
  });
  const installs = ['preinstall', 'install', 'postinstall'].filter((name) => Object.hasOwn(scripts, name));
  const groups = [manifest.dependencies, manifest.peerDependencies, manifest.optionalDependencies];
  const foreign = groups.flatMap((group) =>
    Object.entries(group ?? {}).filter(([, spec]) => elsewhere.test(spec)),
  );
  return [
    ...odd.map(({ path, type }) => (type === '0' ? `file ${path}` : `entry ${path} of type ${type}`)),
    ...installs.map((name) => `script ${name}`),
    ...foreign.map(([name, spec]) => `dependency ${name} from ${spec}`),
  ];
}

/**
 * @param {readonly Entry[]} entries
 * @returns {Manifest}
 */
function manifestIn(entries) {
  const found = entries.findLast(({ path }) => path === 'package/package.json');
  return JSON.parse(new TextDecoder().decode(found?.content ?? new Uint8Array([123, 125])));
}

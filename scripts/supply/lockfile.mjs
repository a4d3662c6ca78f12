const digest = /^sha512-[A-Za-z0-9+/]{86}==$/;

/**
 * Returns the packages in a lockfile of pnpm or npm that are not a version from the user's registry with a SHA-512 digest.
 * The lockfiles of this project name no address, so one that stands there was put in.
 * @param {string} text
 * @returns {string[]}
 */
export function lockProblems(text) {
  return text.startsWith('{') ? npmProblems(JSON.parse(text)) : pnpmProblems(text);
}

/** @param {string} text */
function pnpmProblems(text) {
  const [, packages = ''] = /^packages:\n(.*?)^\S/ms.exec(text) ?? [];
  const entries = packages.split(/^ {2}(?=\S)/m).filter((entry) => entry.trim() !== '');
  if (entries.length === 0) return ['no packages'];
  const bad = entries.filter((entry) => {
    const isVersion = /^'?(@[\w.-]+\/)?[\w.-]+@\d[\w.+-]*'?:\n/.test(entry);
    const [, integrity = ''] = /^ {4}resolution: \{integrity: ([^},]+)\}$/m.exec(entry) ?? [];
    return !isVersion || !digest.test(integrity);
  });
  return bad.map((entry) => entry.split('\n')[0] ?? '');
}

/** @param {{ packages?: Record<string, { integrity?: string, resolved?: string }> }} lock */
function npmProblems({ packages = {} }) {
  const bad = Object.entries(packages).filter(
    ([path, { integrity = '', resolved }]) =>
      path !== '' && !(digest.test(integrity) && resolved === undefined),
  );
  return bad.map(([path]) => path);
}

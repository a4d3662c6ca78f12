// How a changeset becomes a line of a CHANGELOG. All packages have one version, so that nothing is to be said of
// dependencies among them.

/** @param {{ summary: string }} changeset */
export async function getReleaseLine({ summary }) {
  const [first = '', ...rest] = summary.trim().split('\n');
  return [`- ${first}`, ...rest.map((line) => (line === '' ? '' : `  ${line}`))].join('\n');
}

export async function getDependencyReleaseLine() {
  return '';
}

export default { getReleaseLine, getDependencyReleaseLine };

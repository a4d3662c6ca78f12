// Generates the page of errors from the catalog that `cobbler explain` prints.

/** @typedef {import('../../apps/cli/src/explain/explanation.ts').Area} Area */
/** @typedef {import('../../apps/cli/src/explain/explanation.ts').Explanation} Explanation */

const head = `# Errors

Every error has a **code**: the last line on the command line, \`code\` in events, in \`AgentError\` and in the responses of
the server. \`cobbler explain CODE\` prints its entry here. The **kind** says who must act: for \`invalid\` and \`auth\`, the
caller; for \`rate_limit\`, \`network\`, \`timeout\` and \`agent\`, usually no one, because Cobbler retries first; \`limit\` and
\`aborted\` end a run and are not failures. Error codes of a service are passed on unchanged and not listed here; the same
applies to errors of your own tools.

A code keeps its meaning; new codes may be added. Programs may compare codes and kinds, but not messages.

This page is written by \`npm run generate -- errors\` from apps/cli/src/explain.
`;

/**
 * @param {readonly Area[]} catalogue
 * @returns {string}
 */
export function errorsPage(catalogue) {
  const parts = catalogue.map(({ title, entries }) => `## ${title}\n\n${entries.map(section).join('\n')}`);
  return `${head}\n${parts.join('\n')}`;
}

/** @param {Explanation} entry */
function section({ code, kinds = [], status = [], what, todo, see }) {
  const about = [...kinds.map((kind) => `\`${kind}\``), ...status.map((one) => `HTTP ${one}`)].join(', ');
  const page = see?.replace(/^docs\//, '');
  const more = page === undefined ? '' : ` See [${page.replace(/\.md$/, '')}](${page}).`;
  return `### ${code}\n\n${about === '' ? '' : `${about}. `}${what}\n\n${todo}${more}\n`;
}

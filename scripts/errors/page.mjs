// The page of errors, made of the catalogue that `cobbler explain` prints.

/** @typedef {import('../../apps/cli/src/explain/explanation.ts').Area} Area */
/** @typedef {import('../../apps/cli/src/explain/explanation.ts').Explanation} Explanation */

const head = `# Errors

Every error has a **code**: the last line at the command line, \`code\` in events, in \`AgentError\` and in the answers of the
server. \`cobbler explain CODE\` prints what stands here. A **kind** says who has to act: \`invalid\` and \`auth\` whoever asked,
\`rate_limit\`, \`network\`, \`timeout\` and \`agent\` mostly nobody, since they are tried again first; \`limit\` and \`aborted\` are
no failures but ends. What a service calls its failures stays as it is and is not listed, nor is what a tool of yours throws.

A code keeps its meaning; codes are added. Programs may compare codes and kinds, and never messages.

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

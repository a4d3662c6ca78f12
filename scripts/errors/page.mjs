// Generates the page of errors from the catalog that `cobbler explain` prints.

/** @typedef {import('../../apps/cli/src/explain/explanation.ts').Area} Area */
/** @typedef {import('../../apps/cli/src/explain/explanation.ts').Explanation} Explanation */

const head = `# Errors

Every error has a **code**. You find it in the last line of the command's output, and as \`code\` in events, in \`AgentError\` and
in the responses of the server. \`cobbler explain CODE\` prints the entry for a code on this page.

The **kind** of an error shows who must act:

| Kind | Who must act |
|---|---|
| \`invalid\`, \`auth\` | the caller |
| \`rate_limit\`, \`network\`, \`timeout\`, \`agent\` | usually no one, because Cobbler retries first |
| \`tool\` | usually the model, which sees the message |
| \`limit\`, \`aborted\` | no one; these errors end a run, but the run did not fail |

Cobbler passes on the error codes of a service and of your own tools unchanged. This page does not list them.

The meaning of a code never changes, but later releases can add codes. Your program can compare codes and kinds. Do not compare
messages, because they can change.

\`npm run generate -- errors\` generates this page from apps/cli/src/explain.
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

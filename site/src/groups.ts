/** A sidebar heading and the files below it, in this order. */
export interface Group {
  readonly title: string;
  readonly files: readonly string[];
  /** True if the group is collapsed at first. */
  readonly folded?: boolean;
}

/** The groups of pages that are not listed below, so that a new guide or package needs no line here. */
export const others: readonly { readonly title: string; readonly files: RegExp }[] = [
  { title: 'Guides', files: /^docs\/[^/]+\.md$/ },
  { title: 'Packages', files: /^(packages|apps)\/[^/]+\/README\.md$/ },
];

/** The sidebar, in reading order. Missing files are skipped. */
export const groups: readonly Group[] = [
  {
    title: 'Start',
    files: [
      'README.md',
      'docs/first-agent.md',
      'examples/README.md',
      'docs/compare.md',
      'docs/coming-from.md',
      'docs/promises.md',
      'docs/vocabulary.md',
    ],
  },
  {
    title: 'Guides',
    files: [
      'docs/agent-folder.md',
      'docs/tools.md',
      'docs/structured-output.md',
      'docs/permissions.md',
      'docs/skills.md',
      'docs/gate.md',
      'docs/hooks.md',
      'docs/limits.md',
      'docs/budgets.md',
      'docs/costs.md',
      'docs/fallback.md',
      'docs/batches.md',
      'docs/sessions.md',
      'docs/jobs.md',
      'docs/long-work.md',
      'docs/testing.md',
      'docs/record-and-replay.md',
      'docs/writing-a-provider.md',
      'docs/gemini.md',
      'docs/ai-sdk.md',
      'docs/mcp.md',
      'docs/delegation.md',
      'docs/runners.md',
    ],
  },
  { title: 'Command line', files: ['docs/chat.md', 'docs/editors.md', 'docs/audit.md'] },
  {
    title: 'Server and operations',
    files: [
      'docs/server.md',
      'docs/web-page.md',
      'docs/front-ends.md',
      'docs/responses.md',
      'docs/operations.md',
      'docs/scale-out.md',
      'docs/platforms.md',
      'deploy',
    ],
  },
  { title: 'Assistant', files: ['docs/assistant.md', 'docs/telegram.md', 'docs/cloudflare.md'] },
  {
    title: 'Reference',
    files: [
      'api',
      'docs/errors.md',
      'docs/events.md',
      'docs/requirements.md',
      'docs/performance.md',
      'docs/platforms.md',
    ],
  },
  { title: 'Packages', files: [], folded: true },
  {
    title: 'Project',
    files: [
      'ARCHITECTURE.md',
      'CONTRIBUTING.md',
      'SECURITY.md',
      'CHANGELOG.md',
      'docs/mutants.md',
      'bench/README.md',
      'docs/decisions',
    ],
  },
];

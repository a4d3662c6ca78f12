/** A heading of the sidebar and what stands below it: files of the project, in this order. */
export interface Group {
  readonly title: string;
  readonly files: readonly string[];
  /** Whether it is folded at first. */
  readonly folded?: boolean;
}

/** Where pages go that no group names: a new guide, or a new package, needs no line here. */
export const others: readonly { readonly title: string; readonly files: RegExp }[] = [
  { title: 'Guides', files: /^docs\/[^/]+\.md$/ },
  { title: 'Packages', files: /^(packages|apps)\/[^/]+\/README\.md$/ },
];

/** The sidebar, for somebody who begins at the top. A file that is not there is left out. */
export const groups: readonly Group[] = [
  {
    title: 'Start',
    files: [
      'README.md',
      'docs/first-agent.md',
      'examples/README.md',
      'docs/coming-from.md',
      'docs/promises.md',
      'docs/vocabulary.md',
    ],
  },
  {
    title: 'Guides',
    files: [
      'docs/tools.md',
      'docs/structured-output.md',
      'docs/gate.md',
      'docs/limits.md',
      'docs/sessions.md',
      'docs/long-work.md',
      'docs/testing.md',
      'docs/record-and-replay.md',
      'docs/writing-a-provider.md',
      'docs/ai-sdk.md',
      'docs/mcp.md',
      'docs/delegation.md',
      'docs/runners.md',
    ],
  },
  { title: 'Command line', files: ['docs/chat.md', 'docs/editors.md'] },
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
      'docs/seeds.md',
      'docs/performance.md',
      'docs/platforms.md',
    ],
  },
  { title: 'Packages', files: [], folded: true },
  {
    title: 'The project',
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

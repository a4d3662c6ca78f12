import type { OptionGroup } from './option-row.ts';

const sessionGroup: OptionGroup = {
  title: 'Session',
  options: [
    { flags: '-c, --continue', text: 'go on with the last session of this folder' },
    { flags: '-s, --session <id>', text: 'go on with this session; the beginning of its id is enough' },
    { flags: '--fork', text: 'with -c or -s: leave that session as it is and go on in a copy' },
    { flags: '--no-session', text: 'keep no session' },
  ],
};

/** What one task is told, but for its session. */
export const taskGroups: readonly OptionGroup[] = [
  {
    title: 'Model',
    options: [
      {
        flags: '-m, --model <name>',
        text: 'fast, balanced (default), best, or a model id; claude:ID or openai:ID names the provider',
        completes: ['fast', 'balanced', 'best', 'claude:', 'openai:'],
      },
      { flags: '--base-url <url>', text: "another server that speaks the provider's language" },
      {
        flags: '--api <name>',
        text: "which of OpenAI's APIs to speak: responses or chat",
        completes: ['responses', 'chat'],
      },
      {
        flags: '--backend <name>',
        text: 'let another program do the work: claude-code or codex',
        completes: ['claude-code', 'codex'],
      },
    ],
  },
  {
    title: 'Task',
    options: [
      {
        flags: '-C, --dir <folder>',
        text: 'work in this folder instead of the current one',
        completes: 'folder',
      },
      {
        flags: '-f, --attach <file>',
        text: 'attach a text, picture or PDF; repeatable',
        repeats: true,
        completes: 'file',
      },
      { flags: '--system <text>', text: 'replace the built-in instructions by this text, or @FILE' },
      { flags: '--append-system <text>', text: 'add this text, or @FILE, to the instructions' },
      { flags: '--no-context-files', text: 'do not read AGENTS.md or CLAUDE.md' },
      { flags: '--tools <list>', text: 'only these tools, separated by commas; none for none' },
      {
        flags: '--mcp <server>',
        text: 'also the tools of an MCP server: NAME=COMMAND or URL; repeatable',
        repeats: true,
      },
    ],
  },
  {
    title: 'Permissions',
    options: [
      { flags: '--ask', text: 'ask before edits and commands (default)' },
      { flags: '--edits', text: 'edit without asking, ask before commands' },
      { flags: '--yes', text: 'ask nothing' },
      { flags: '--read-only', text: 'only read' },
      {
        flags: '--allow <rule>',
        text: "allow what a rule names, such as 'run_command(npm test*)'; repeatable",
        repeats: true,
      },
    ],
  },
  {
    title: 'Limits',
    options: [
      { flags: '--max-turns <n>', text: 'most requests to the model (default 100)' },
      {
        flags: '--max-repeats <n>',
        text: 'equal calls with equal results in a row before the run ends, or never (default 6)',
        completes: ['never'],
      },
      { flags: '--max-usd <amount>', text: 'most money, in US dollars' },
      { flags: '--max-tokens <n>', text: 'most tokens, in and out together' },
      { flags: '--timeout <time>', text: 'most time, such as 90s or 10m (default 1h)' },
      {
        flags: '--retry-for <time>',
        text: 'keep retrying an overloaded or unreachable service, or never (default 5m)',
        completes: ['never'],
      },
      { flags: '--allow-unpriced', text: 'with a limit on money: also models whose price is unknown' },
    ],
  },
  {
    title: 'Long work',
    options: [
      {
        flags: '--compact-above <n>',
        text: 'summarise older messages above so many tokens, or never (default: 80% of the window)',
        completes: ['never'],
      },
      {
        flags: '--offload-above <bytes>',
        text: 'put longer tool output away, to be read in parts, or never (default 64k)',
        completes: ['never'],
      },
    ],
  },
  {
    title: 'Output',
    options: [
      { flags: '-o, --output <file>', text: 'also write the last answer into a file', completes: 'file' },
      { flags: '--json', text: 'one event per line; --json=deltas also while an answer streams' },
      { flags: '-q, --quiet', text: 'the answer only' },
      { flags: '-v, --verbose', text: 'arguments and results in full, request ids' },
      {
        flags: '--record <file>',
        text: 'record the run, to be replayed without network or key',
        completes: 'file',
      },
      {
        flags: '--replay <file>',
        text: 'replay a recorded run: same log, no model, no tools',
        completes: 'file',
      },
      { flags: '--refresh', text: 'with --replay: do the same task for real and record it anew' },
      { flags: '--live-tools', text: 'with --replay: run the tools that only read; all of them with --yes' },
      { flags: '-p, --print', text: 'accepted and ignored', hidden: true },
      { flags: '--json-deltas', text: 'what --json=deltas is read as', hidden: true },
    ],
  },
];

/** Everything that `run` is told. */
export const runGroups: readonly OptionGroup[] = [...taskGroups, sessionGroup];

import type { OptionGroup, OptionRow } from './option-row.ts';

/** The options for the sandbox of commands. */
export const sandboxRows: readonly OptionRow[] = [
  {
    flags: '--sandbox <level>',
    text: 'what commands can write: workspace (default), strict (nothing), or off; needs bubblewrap',
    completes: ['workspace', 'strict', 'off'],
  },
  { flags: '--no-sandbox', text: 'run commands with all your rights' },
];

const sessionGroup: OptionGroup = {
  title: 'Session',
  options: [
    { flags: '-c, --continue', text: 'continue the latest session of this directory' },
    { flags: '-s, --session <id>', text: 'continue this session; a unique prefix of its id is enough' },
    { flags: '--fork', text: 'with -c or -s: continue in a copy and leave that session unchanged' },
    { flags: '--no-session', text: 'do not save the session' },
  ],
};

/** The options of a task, without those of its session. */
export const taskGroups: readonly OptionGroup[] = [
  {
    title: 'Model',
    options: [
      {
        flags: '-m, --model <name>',
        text: 'fast, balanced (default), best, or a model id; claude:ID or openai:ID names the provider',
        completes: ['fast', 'balanced', 'best', 'claude:', 'openai:'],
      },
      {
        flags: '--fallback <name>',
        text: 'model to use if this one is overloaded, unreachable or unavailable; repeatable',
        repeats: true,
        completes: ['fast', 'balanced', 'best', 'claude:', 'openai:'],
      },
      { flags: '--base-url <url>', text: "server that implements the provider's API" },
      {
        flags: '--api <name>',
        text: 'OpenAI API to use: responses or chat',
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
        flags: '-C, --dir <dir>',
        text: 'work in this directory (default: the current one)',
        completes: 'folder',
      },
      {
        flags: '-f, --attach <file>',
        text: 'attach a text file, image, PDF or audio file; repeatable',
        repeats: true,
        completes: 'file',
      },
      { flags: '--system <text>', text: 'replace the built-in instructions with this text, or @FILE' },
      { flags: '--append-system <text>', text: 'append this text, or @FILE, to the instructions' },
      { flags: '--no-context-files', text: 'skip AGENTS.md and CLAUDE.md' },
      { flags: '--tools <list>', text: 'use only these tools (separated by commas), or `none`' },
      {
        flags: '--mcp <server>',
        text: 'add the tools of an MCP server: NAME=COMMAND or URL; repeatable',
        repeats: true,
      },
    ],
  },
  {
    title: 'Permissions',
    options: [
      { flags: '--ask', text: 'ask before edits and commands (default)' },
      { flags: '--edits', text: 'edit without asking, but ask before commands' },
      { flags: '--sandboxed', text: 'edit and run commands in the sandbox; ask before what leaves it' },
      { flags: '--yes', text: 'ask only before writes to guarded files' },
      { flags: '--read-only', text: 'only read' },
      {
        flags: '--allow <rule>',
        text: "allow a call, such as 'run_command(npm test)'; repeatable",
        repeats: true,
      },
      {
        flags: '--allow-guarded <path>',
        text: 'allow writes to a guarded path, such as .github; repeatable',
        repeats: true,
      },
      ...sandboxRows,
    ],
  },
  {
    title: 'Limits',
    options: [
      { flags: '--max-turns <n>', text: 'maximum requests to the model (default 100)' },
      {
        flags: '--max-repeats <n>',
        text: 'end the run after this many identical turns, or `never` (default 6)',
        completes: ['never'],
      },
      { flags: '--max-usd <amount>', text: 'maximum cost in US dollars' },
      { flags: '--max-tokens <n>', text: 'maximum tokens, input and output together' },
      { flags: '--budget <name>', text: 'count in this budget of the configuration: cobbler help budgets' },
      { flags: '--timeout <time>', text: 'maximum time, such as 90s or 10m (default 1h)' },
      {
        flags: '--retry-for <time>',
        text: 'retry an overloaded or unreachable service for this long, or never (default 5m)',
        completes: ['never'],
      },
      { flags: '--allow-unpriced', text: 'with --max-usd: also allow models whose price is unknown' },
    ],
  },
  {
    title: 'Long sessions',
    options: [
      {
        flags: '--compact-above <n>',
        text: 'summarize older messages above this many tokens, or never (default: 80% of the window)',
        completes: ['never'],
      },
      {
        flags: '--offload-above <bytes>',
        text: 'offload tool output larger than this, or never (default 64k)',
        completes: ['never'],
      },
    ],
  },
  {
    title: 'Output',
    options: [
      { flags: '-o, --output <file>', text: 'also write the last response to this file', completes: 'file' },
      { flags: '--json', text: 'print events as JSON lines; --json=deltas also streams partial responses' },
      { flags: '-q, --quiet', text: 'print only the response' },
      { flags: '-v, --verbose', text: 'print arguments and results in full, and request ids' },
      {
        flags: '--record <file>',
        text: 'record the run, to replay it without network or key',
        completes: 'file',
      },
      {
        flags: '--replay <file>',
        text: 'replay a recorded run without calling the model or tools',
        completes: 'file',
      },
      {
        flags: '--refresh',
        text: 'with --replay: run the same task again with a real model, and record it again',
      },
      { flags: '--live-tools', text: 'with --replay: run the read-only tools; with --yes, all tools' },
      { flags: '-p, --print', text: 'accepted and ignored', hidden: true },
      { flags: '--json-deltas', text: 'internal form of --json=deltas', hidden: true },
    ],
  },
];

/** All options of `run`. */
export const runGroups: readonly OptionGroup[] = [...taskGroups, sessionGroup];

/** An option of a command, as it is parsed, explained and completed. */
export interface OptionRow {
  /** In commander's words: `-m, --model <name>`. */
  readonly flags: string;
  readonly text: string;
  /** May be given more than once. */
  readonly repeats?: true;
  /** What completes its value. */
  readonly completes?: 'file' | 'folder' | readonly string[];
  /** Accepted, but not worth a line of help. */
  readonly hidden?: true;
}

/** A group of options under a heading of the help. */
export interface OptionGroup {
  readonly title: string;
  readonly options: readonly OptionRow[];
}

export interface CommandRow {
  readonly name: string;
  /** What follows the name, in commander's words. */
  readonly operands: string;
  /** One line for the list of commands. */
  readonly text: string;
  /** What its own help says beyond its options. */
  readonly about: readonly string[];
  readonly groups: readonly OptionGroup[];
  /** What completes its first operand. */
  readonly words?: 'file' | readonly string[];
}

const runGroups: readonly OptionGroup[] = [
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
      { flags: '--max-usd <amount>', text: 'most money, in US dollars' },
      { flags: '--max-tokens <n>', text: 'most tokens, in and out together' },
      { flags: '--timeout <time>', text: 'most time, such as 90s or 10m (default 1h)' },
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
        flags: '--spill-above <bytes>',
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

/** What a server decides for all its sessions: what `run` decides for one, but for its prompt and output. */
const serveGroups: readonly OptionGroup[] = [
  {
    title: 'Server',
    options: [
      { flags: '--port <n>', text: 'listen on this port (default 4370; 0 for any free one)' },
      { flags: '--host <address>', text: 'listen on this address (default 127.0.0.1)' },
      {
        flags: '--allowed-host <name>',
        text: 'serve requests for this name too, such as that of a proxy; repeatable',
        repeats: true,
      },
      { flags: '--rotate-token', text: "replace the owner's token" },
      { flags: '--store <file>', text: 'keep sessions in this file', completes: 'file' },
      {
        flags: '--log-level <level>',
        text: 'log from debug, info, warn or error up, on standard error',
        completes: ['debug', 'info', 'warn', 'error'],
      },
    ],
  },
  ...runGroups
    .filter(({ title }) => title !== 'Output')
    .map(({ title, options }) => ({
      title,
      options: options.filter(({ flags }) => !flags.includes('--attach')),
    })),
];

const serverUrl: OptionRow = {
  flags: '--url <url>',
  text: 'ask this server instead of the one on this machine',
};

/** Every command, in the order of the help. */
export const commands: readonly CommandRow[] = [
  {
    name: 'run',
    operands: '[prompt...]',
    text: 'work on a task until it is done (the command may be left out)',
    about: [
      'The prompt is the words given, or what is piped in, or both: then the pipe is attached to it.',
      'The answer goes to standard output, everything else to standard error.',
      'Without a terminal nobody can be asked: what would need it is denied, and the exit code is 5.',
      'Ctrl-C cancels and still prints the summary; a second Ctrl-C ends at once.',
    ],
    groups: runGroups,
  },
  {
    name: 'demo',
    operands: '',
    text: 'watch it repair a small project, without a key',
    about: [
      'A scripted model repairs a failing test in a small project. Everything else is real: the tools, the',
      'files, the requests over HTTP. It works in a new folder, which stays, and asks nothing.',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          {
            flags: '-C, --dir <folder>',
            text: 'play in a folder that an earlier demo left, as it stands now',
            completes: 'folder',
          },
          { flags: '--json', text: 'one event per line, as in run' },
          { flags: '-v, --verbose', text: 'arguments and results in full' },
        ],
      },
    ],
  },
  {
    name: 'models',
    operands: '',
    text: 'the models, what they cost, and whether there is a key',
    about: [],
    groups: [],
  },
  {
    name: 'config',
    operands: '[action] [name] [value]',
    text: 'settings and where they come from; set-key stores a key',
    about: [
      'cobbler config                    show every setting and its source',
      'cobbler config set-key PROVIDER   store a key; it is typed hidden, or piped in',
      'cobbler config set NAME VALUE     store a setting, such as: set model best',
    ],
    groups: [],
    words: ['set-key', 'set'],
  },
  {
    name: 'doctor',
    operands: '[file]',
    words: 'file',
    text: 'check the setup, or a transcript, and say what repairs it',
    about: [
      'With FILE (or - for standard input) it checks a transcript instead: the events of `cobbler run --json`,',
      'or the body of a request, or its messages, for Claude, OpenAI Responses or Chat Completions. It names each',
      'thing for which a service would refuse it; the exit code is 0 when there is none.',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          { flags: '--live', text: 'also ask the model for one token' },
          { flags: '--json', text: 'the checks as JSON' },
          { flags: '-m, --model <name>', text: 'check this model instead of the configured one' },
          { flags: '--base-url <url>', text: 'check this address' },
        ],
      },
      {
        title: 'With FILE',
        options: [
          { flags: '--fix', text: 'write a repaired transcript, to standard output unless told otherwise' },
          { flags: '-o, --output <file>', text: 'write it into this file', completes: 'file' },
          { flags: '--in-place', text: 'write it into FILE itself' },
        ],
      },
    ],
  },
  {
    name: 'serve',
    operands: '',
    text: 'serve sessions over HTTP, with events, approvals and a token',
    about: [
      'It prints one address with the token in it, and answers until Ctrl-C. Model, folder, tools, permissions and',
      'limits are those given here; no request can change them. What needs a person waits until somebody answers:',
      'cobbler approve ID, or POST to the API, which /docs describes. See docs/server.md.',
    ],
    groups: serveGroups,
  },
  {
    name: 'approve',
    operands: '[id]',
    text: 'allow a call that waits on the server; without an id: list them',
    about: ['A unique beginning of the id is enough. An answer counts once, for exactly what is shown.'],
    groups: [{ title: 'Options', options: [serverUrl] }],
  },
  {
    name: 'deny',
    operands: '[id]',
    text: 'deny a call that waits on the server',
    about: ['A unique beginning of the id is enough.'],
    groups: [
      {
        title: 'Options',
        options: [serverUrl, { flags: '--message <text>', text: 'what the model is told' }],
      },
    ],
  },
  {
    name: 'completion',
    operands: '<shell>',
    text: 'completion for bash, zsh or fish',
    about: [
      'bash: eval "$(cobbler completion bash)"      in ~/.bashrc',
      'zsh:  eval "$(cobbler completion zsh)"       in ~/.zshrc, after compinit',
      'fish: cobbler completion fish | source       in ~/.config/fish/config.fish',
    ],
    groups: [],
    words: ['bash', 'zsh', 'fish'],
  },
  {
    name: 'help',
    operands: '[command]',
    text: 'all about one command',
    about: [],
    groups: [],
    words: ['run', 'demo', 'models', 'config', 'doctor', 'serve', 'approve', 'deny', 'completion'],
  },
];

export const commandNames: readonly string[] = commands.map((command) => command.name);

/** The command of this name. */
export function commandRow(name: string): CommandRow | undefined {
  return commands.find((command) => command.name === name);
}

/** Every option of a command. */
export function optionsOf(command: CommandRow): OptionRow[] {
  return command.groups.flatMap((group) => [...group.options]);
}

/** The flags of an option without its value: `-m, --model <name>` gives `-m` and `--model`. */
export function flagNames(option: OptionRow): string[] {
  return option.flags.match(/--?[\w-]+/g) ?? [];
}

import { backupRows } from './backup-options.ts';
import type { OptionGroup, OptionRow } from './option-row.ts';
import { runGroups, taskGroups } from './run-options.ts';
import { serveGroups } from './serve-options.ts';

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

/** What is the same for all sessions of a program that hands out work, such as an editor. */
const programGroups = (without: RegExp): readonly OptionGroup[] => [
  ...taskGroups
    .filter(({ title }) => title !== 'Output')
    .map(({ title, options }) => ({ title, options: options.filter(({ flags }) => !without.test(flags)) })),
  { title: 'Session', options: [{ flags: '--no-session', text: 'keep no sessions' }] },
];

/** Of the bot and of the chat at this terminal. */
const assistantGroups: readonly OptionGroup[] = [
  {
    title: 'Assistant',
    options: [
      { flags: '--local', text: 'chat here; scripted without -m' },
      {
        flags: '-m, --model <name>',
        text: 'default: ANTHROPIC_MODEL, or claude-haiku-4-5',
        completes: ['fast', 'balanced', 'best', 'claude:', 'openai:'],
      },
      { flags: '--base-url <url>', text: 'another server' },
      {
        flags: '--api <name>',
        text: 'responses or chat',
        completes: ['responses', 'chat'],
      },
      { flags: '--retry-for <time>', text: 'retry an overloaded service (default 5m)' },
      { flags: '--tools <list>', text: 'these, with commas (default none)' },
      { flags: '-C, --dir <folder>', text: 'the folder that tools work in', completes: 'folder' },
      { flags: '--persona <file>', text: 'who it is and how it speaks', completes: 'file' },
      {
        flags: '--time-zone <name>',
        text: 'default: that of this machine',
      },
      { flags: '--embedder <name>', text: 'openai[:MODEL] or URL#MODEL' },
      { flags: '--embedder-floor <n>', text: 'cosine below which texts are strangers' },
      { flags: '--keep-days <n>', text: 'keep logs and what was sent (default 30)' },
    ],
  },
  {
    title: 'Telegram',
    options: [
      { flags: '--webhook', text: 'be sent updates instead of fetching them' },
      { flags: '--port <n>', text: 'default 8787; 0 for any free one' },
      { flags: '--host <address>', text: 'default 127.0.0.1' },
      { flags: '--path <path>', text: 'default /telegram' },
      { flags: '--api-root <url>', text: 'a Bot API server of your own' },
      {
        flags: '--log-level <level>',
        text: 'debug shows messages',
        completes: ['debug', 'info', 'warn', 'error'],
      },
    ],
  },
  {
    title: 'With audit and outbox',
    options: [
      { flags: '--chat <id>', text: 'audit: only this chat' },
      { flags: '--since <time>', text: 'audit: only the last 2d, 12h or 30m' },
      { flags: '--json', text: 'one JSON object per line' },
    ],
  },
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
    name: 'chat',
    operands: '[prompt...]',
    text: 'talk, and see every edit before it is made; --demo needs no key',
    about: [
      'Enter sends, Alt-Enter begins a new line, /help tells the rest. What you say during a run steers it.',
      'Ctrl-C stops a run at once; at an empty line twice, it leaves. The session is kept, as in run.',
    ],
    groups: [
      {
        title: 'Chat',
        options: [
          { flags: '--connect <url>', text: 'talk to a server; the address that cobbler serve prints' },
          { flags: '--token <token>', text: 'its token, when the address does not hold it' },
          { flags: '--demo', text: 'try it with a scripted model, without a key' },
        ],
      },
      ...runGroups
        .filter(({ title }) => title !== 'Output')
        .map(({ title, options }) => ({
          title,
          options: options.filter(({ flags }) => !flags.includes('--attach')),
        })),
    ],
  },
  {
    name: 'resume',
    operands: '[id] [prompt...]',
    text: 'go on with a session, after a crash too, or with another prompt',
    about: [
      'Without an id you choose among the last sessions of this folder; without a terminal it is the last one. The',
      'beginning of an id is enough. It works in the folder and with the model that the session was begun with, unless',
      'told otherwise. Permissions are those given now.',
      'A tool that was running at the crash runs again only if that changes nothing.',
    ],
    groups: taskGroups,
  },
  {
    name: 'sessions',
    operands: '[action] [id] [title...]',
    text: 'the sessions that are kept; show, export, import, fork, delete',
    about: [
      'cobbler sessions                  list them, last changed first',
      'cobbler sessions show ID          what was said and done',
      'cobbler sessions export ID        its events as JSON lines',
      'cobbler sessions import FILE      a session from such lines; - for standard input',
      'cobbler sessions fork ID          a copy to go on with',
      'cobbler sessions rename ID TITLE  another title; without TITLE the first words said',
      'cobbler sessions delete ID        for good',
      'cobbler sessions prune            delete old ones, by --older-than, --keep-last or both',
      'cobbler sessions vacuum           give the room of deleted ones back to the disk',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          { flags: '--here', text: 'list only those of this folder' },
          { flags: '-n, --limit <n>', text: 'list so many (default 20)' },
          { flags: '--json', text: 'list as JSON, one session per line' },
          { flags: '-o, --output <file>', text: 'with export: write into this file', completes: 'file' },
          { flags: '--at <seq>', text: 'with fork: up to and including this event' },
          { flags: '--older-than <time>', text: 'with prune: unchanged for so long, such as 30d or 12h' },
          { flags: '--keep-last <n>', text: 'with prune: keep so many of the last ones' },
        ],
      },
    ],
    words: ['show', 'export', 'import', 'fork', 'rename', 'delete', 'prune', 'vacuum'],
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
    name: 'acp',
    operands: '',
    text: 'work in an editor: Zed, JetBrains, Neovim, Emacs and others',
    about: [
      'An editor starts it and speaks with it in the Agent Client Protocol, over standard input and output. The folder',
      'is that of the editor, which asks before edits and commands; model, tools and limits are those given here.',
      'How to set it up: docs/editors.md.',
    ],
    // An editor says itself where it works.
    groups: programGroups(/--(attach|dir|backend) /),
  },
  {
    name: 'mcp',
    operands: '',
    text: 'be a tool of other agents: Claude Code, Codex, Cursor and others',
    about: [
      'A program starts it and speaks with it in the Model Context Protocol, over standard input and output. It can',
      'hand over a task, see how it stands, answer approvals, steer and stop. To use MCP servers yourself: --mcp.',
      'How to set it up: docs/mcp.md.',
    ],
    groups: programGroups(/--(attach|backend) /),
  },
  {
    name: 'assistant',
    operands: '[action] [url]',
    text: 'a Telegram bot with memory; --local to try it here, without a key',
    about: [
      'cobbler assistant --local           chat here with a script; its memory is real',
      'cobbler assistant                   be the bot until Ctrl-C; a restart goes on',
      'cobbler assistant set-webhook URL   be sent updates; delete-webhook ends it',
      'cobbler assistant status            the bot and what is under way',
      'cobbler assistant audit             what models and tools did, and who allowed it',
      'cobbler assistant outbox            what may have been sent, was given up, or waits',
      'TELEGRAM_BOT_TOKEN            from @BotFather',
      'TELEGRAM_ALLOWED_USERS        numbers of people, with commas; none: nobody is heard',
      'TELEGRAM_WEBHOOK_SECRET       made and kept when there is none',
      'COBBLER_ASSISTANT_TIME_ZONE   as --time-zone',
      'COBBLER_EMBEDDER_API_KEY      for --embedder URL#MODEL',
      'ANTHROPIC_MODEL and the keys as elsewhere. See docs/assistant.md',
    ],
    groups: assistantGroups,
    words: ['set-webhook', 'delete-webhook', 'status', 'audit', 'outbox'],
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
  ...backupRows,
  {
    name: 'explain',
    operands: '[code...]',
    text: 'what the code of an error means, and what to do',
    about: [
      'The code stands in the last line of an error, in "code" of --json and of the server, and in the log.',
      'Without one: every code there is.',
    ],
    groups: [{ title: 'Output', options: [{ flags: '--json', text: 'as JSON' }] }],
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
    words: [
      'run',
      'chat',
      'resume',
      'sessions',
      'demo',
      'models',
      'config',
      'doctor',
      'explain',
      'serve',
      'acp',
      'mcp',
      'assistant',
      'approve',
      'deny',
      ...backupRows.map(({ name }) => name),
      'completion',
    ],
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

import { backupRows } from './backup-options.ts';
import { budgetsRow } from './budgets-row.ts';
import type { CommandRow } from './command-row.ts';
import { costsRow } from './costs-row.ts';
import type { OptionGroup, OptionRow } from './option-row.ts';
import { permissionsRow } from './permissions-row.ts';
import { runGroups, sandboxRows, taskGroups } from './run-options.ts';
import { serveGroups } from './serve-options.ts';

/** Returns the options that apply to all sessions of a client, such as an editor. */
const programGroups = (without: RegExp): readonly OptionGroup[] => [
  ...taskGroups
    .filter(({ title }) => title !== 'Output')
    .map(({ title, options }) => ({ title, options: options.filter(({ flags }) => !without.test(flags)) })),
  { title: 'Session', options: [{ flags: '--no-session', text: 'do not save sessions' }] },
];

/** The options of the bot and of the local chat. */
const assistantGroups: readonly OptionGroup[] = [
  {
    title: 'Assistant',
    options: [
      { flags: '--local', text: 'chat in this terminal; without -m, with a scripted model' },
      {
        flags: '-m, --model <name>',
        text: 'model (default: ANTHROPIC_MODEL, or claude-haiku-4-5)',
        completes: ['fast', 'balanced', 'best', 'claude:', 'openai:'],
      },
      { flags: '--base-url <url>', text: 'use another server' },
      {
        flags: '--api <name>',
        text: 'OpenAI API to use: responses or chat',
        completes: ['responses', 'chat'],
      },
      { flags: '--retry-for <time>', text: 'retry an overloaded service for this long (default 5m)' },
      { flags: '--tools <list>', text: 'comma-separated tools (default none)' },
      { flags: '-C, --dir <dir>', text: 'working directory of the tools', completes: 'folder' },
      ...sandboxRows,
      { flags: '--persona <file>', text: 'description of the assistant and its style', completes: 'file' },
      {
        flags: '--time-zone <name>',
        text: 'time zone of users who have not set one (default: that of this machine)',
      },
      { flags: '--embedder <name>', text: 'search memory by meaning: openai[:MODEL] or URL#MODEL' },
      { flags: '--embedder-floor <n>', text: 'minimum cosine similarity of related texts' },
      { flags: '--budget <name>', text: 'count in this budget of the configuration: cobbler help budgets' },
      { flags: '--keep-days <n>', text: 'keep logs and sent messages for this many days (default 30)' },
    ],
  },
  {
    title: 'Telegram',
    options: [
      { flags: '--webhook', text: 'receive updates by webhook instead of polling' },
      { flags: '--port <n>', text: 'port (default 8787; 0: any free port)' },
      { flags: '--host <address>', text: 'address (default 127.0.0.1)' },
      { flags: '--path <path>', text: 'path (default /telegram)' },
      { flags: '--api-root <url>', text: 'your own Bot API server' },
      {
        flags: '--log-level <level>',
        text: 'minimum level to log: debug (with message text), info, warn or error',
        completes: ['debug', 'info', 'warn', 'error'],
      },
    ],
  },
  {
    title: 'With audit and outbox',
    options: [
      { flags: '--chat <id>', text: 'audit: this chat only' },
      { flags: '--since <time>', text: 'audit: only entries this recent, such as 2d, 12h or 30m' },
      { flags: '--json', text: 'print one JSON object per line' },
    ],
  },
];

const serverUrl: OptionRow = {
  flags: '--url <url>',
  text: 'use this server instead of the one on this machine',
};

/** Every command, in the order of the help. */
export const commands: readonly CommandRow[] = [
  {
    name: 'run',
    operands: '[prompt...]',
    text: 'run a task until it is done (the default command)',
    about: [
      'The prompt comes from the arguments, piped input, or both; with both, the piped input becomes an attachment.',
      'The response goes to standard output, everything else to standard error.',
      'Without a terminal, calls that need approval are denied, and the exit code is 5.',
      'Ctrl-C cancels and prints the summary; a second Ctrl-C exits immediately.',
    ],
    groups: runGroups,
  },
  {
    name: 'chat',
    operands: '[prompt...]',
    text: 'chat in the terminal and review every edit; --demo needs no key',
    about: [
      'Enter sends, Alt-Enter starts a new line, /help lists commands. A message sent during a run steers it.',
      'Ctrl-C stops a run; press it twice on an empty line to exit. The session is saved, as with run.',
    ],
    groups: [
      {
        title: 'Chat',
        options: [
          { flags: '--connect <url>', text: 'connect to a server at the address that cobbler serve prints' },
          {
            flags: '--token <token>',
            text: 'token, if the address does not contain it',
          },
          { flags: '--demo', text: 'use a scripted model, without a key' },
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
    text: 'continue a session, for example after a crash',
    about: [
      'Without an id, you choose a recent session in this directory; without a terminal, the latest is used. A',
      'unique prefix of the id is enough. The session keeps its directory and model unless you pass others.',
      'Permissions come from the options of this command, not from the session.',
      'A tool call that a crash interrupted runs again only if repeating it is safe.',
    ],
    groups: taskGroups,
  },
  {
    name: 'sessions',
    operands: '[action] [id] [title...]',
    text: 'list, show, export, import, fork or delete sessions',
    about: [
      'cobbler sessions                  list sessions, most recently changed first',
      'cobbler sessions show ID          print the conversation and the tool calls',
      'cobbler sessions export ID        print the events as JSON lines',
      'cobbler sessions import FILE      import an exported session; - for standard input',
      'cobbler sessions fork ID          create an independent copy of a session',
      'cobbler sessions rename ID TITLE  change the title; without TITLE, use the start of the first prompt',
      'cobbler sessions delete ID        delete a session permanently',
      'cobbler sessions prune            delete old sessions; needs --older-than, --keep-last or both',
      'cobbler sessions vacuum           free the disk space of deleted sessions',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          { flags: '--here', text: 'list only sessions in this directory' },
          { flags: '-n, --limit <n>', text: 'maximum number of sessions to list (default 20)' },
          { flags: '--json', text: 'list as JSON, one session per line' },
          { flags: '-o, --output <file>', text: 'with export: write to this file', completes: 'file' },
          { flags: '--at <seq>', text: 'with fork: copy up to and including this event' },
          {
            flags: '--older-than <time>',
            text: 'with prune: delete sessions unchanged for this long, such as 30d or 12h',
          },
          { flags: '--keep-last <n>', text: 'with prune: keep this many of the latest sessions' },
        ],
      },
    ],
    words: ['show', 'export', 'import', 'fork', 'rename', 'delete', 'prune', 'vacuum'],
  },
  {
    name: 'demo',
    operands: '',
    text: 'watch a scripted model fix a small project, without a key',
    about: [
      'A scripted model fixes a failing test in a small project. Everything else is real: the tools, the',
      'files, the HTTP requests. The demo works in a new directory, which it keeps, and never asks for approval.',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          {
            flags: '-C, --dir <dir>',
            text: 'use the directory of an earlier demo in its current state',
            completes: 'folder',
          },
          { flags: '--json', text: 'print events as JSON lines, as in run' },
          { flags: '-v, --verbose', text: 'print arguments and results in full' },
        ],
      },
    ],
  },
  {
    name: 'models',
    operands: '',
    text: 'list models, prices and available keys',
    about: [],
    groups: [
      {
        title: 'Options',
        options: [
          { flags: '--prices', text: 'show prices with source and date' },
          { flags: '--json', text: 'print them as JSON' },
        ],
      },
    ],
  },
  costsRow,
  budgetsRow,
  permissionsRow,
  {
    name: 'config',
    operands: '[action] [name] [value]',
    text: 'show and change settings; set-key stores a key',
    about: [
      'cobbler config                    show every setting and its source',
      'cobbler config set-key PROVIDER   store a key that you type (not shown) or pipe in',
      'cobbler config set NAME VALUE     store a setting, such as: set model best',
    ],
    groups: [],
    words: ['set-key', 'set'],
  },
  {
    name: 'doctor',
    operands: '[file]',
    words: 'file',
    text: 'check the setup, or a transcript, and suggest fixes',
    about: [
      'With FILE (or - for standard input), checks a transcript instead: events from `cobbler run --json`, or',
      'a request body or its messages, for Claude, OpenAI Responses or Chat Completions. The report lists',
      'everything that a service would reject; the exit code is 0 when there are no problems.',
    ],
    groups: [
      {
        title: 'Options',
        options: [
          { flags: '--live', text: 'also request one token from the model' },
          { flags: '--json', text: 'print the checks as JSON' },
          { flags: '-m, --model <name>', text: 'check this model instead of the configured one' },
          { flags: '--base-url <url>', text: 'check this address' },
        ],
      },
      {
        title: 'With FILE',
        options: [
          { flags: '--fix', text: 'write a repaired transcript (default: to standard output)' },
          {
            flags: '-o, --output <file>',
            text: 'write the repaired transcript to this file',
            completes: 'file',
          },
          { flags: '--in-place', text: 'overwrite FILE' },
        ],
      },
    ],
  },
  {
    name: 'serve',
    operands: '',
    text: 'serve sessions over HTTP, protected by a token',
    about: [
      'Prints one address that contains the token, and serves until Ctrl-C. The options of this command set the model,',
      'directory, tools, permissions and limits; no request can change them. Calls that need approval wait for a user:',
      'cobbler approve ID, or POST to the API, which /docs describes. See docs/server.md.',
    ],
    groups: serveGroups,
  },
  {
    name: 'acp',
    operands: '',
    text: 'work in an editor: Zed, JetBrains, Neovim, Emacs and others',
    about: [
      'An editor starts this command and speaks the Agent Client Protocol over standard input and output. The editor',
      'sets the directory and asks before edits and commands; the options of this command set model, tools and limits.',
      'Setup: docs/editors.md.',
    ],
    // The editor sets the working directory.
    groups: programGroups(/--(attach|dir|backend) /),
  },
  {
    name: 'mcp',
    operands: '',
    text: 'serve as a tool for other agents: Claude Code, Codex, Cursor and others',
    about: [
      'A program starts this command and speaks the Model Context Protocol over standard input and output. It can',
      'start, steer and stop a task, read its status and answer approval requests. To use MCP servers in Cobbler: --mcp.',
      'Setup: docs/mcp.md.',
    ],
    groups: programGroups(/--(attach|backend) /),
  },
  {
    name: 'assistant',
    operands: '[action] [url]',
    text: 'run a Telegram bot with memory; --local: chat here, without a key',
    about: [
      'cobbler assistant --local           chat here with a scripted model and real memory',
      'cobbler assistant                   run the bot until Ctrl-C; a restart resumes unfinished work',
      'cobbler assistant set-webhook URL   receive updates by webhook; delete-webhook removes it',
      'cobbler assistant status            show the bot and its running turns',
      'cobbler assistant audit             show what models and tools did, and who approved each call',
      'cobbler assistant outbox            show messages that are waiting, have failed or may have been sent',
      'TELEGRAM_BOT_TOKEN            from @BotFather',
      'TELEGRAM_ALLOWED_USERS        comma-separated user ids; when unset, everyone is ignored',
      'TELEGRAM_WEBHOOK_SECRET       generated and stored when unset',
      'COBBLER_ASSISTANT_TIME_ZONE   same as --time-zone',
      'COBBLER_EMBEDDER_API_KEY      for --embedder URL#MODEL',
      'ANTHROPIC_MODEL and the keys work as in other commands. See docs/assistant.md.',
    ],
    groups: assistantGroups,
    words: ['set-webhook', 'delete-webhook', 'status', 'audit', 'outbox'],
  },
  {
    name: 'approve',
    operands: '[id]',
    text: 'allow a waiting call on the server; without an id, list the waiting calls',
    about: ['A unique prefix of the id is enough. A decision applies once, to exactly the call shown.'],
    groups: [{ title: 'Options', options: [serverUrl] }],
  },
  {
    name: 'deny',
    operands: '[id]',
    text: 'deny a waiting call on the server',
    about: ['A unique prefix of the id is enough.'],
    groups: [
      {
        title: 'Options',
        options: [serverUrl, { flags: '--message <text>', text: 'message for the model' }],
      },
    ],
  },
  ...backupRows,
  {
    name: 'explain',
    operands: '[code...]',
    text: 'explain an error code and what to do',
    about: [
      'The code is in the last line of an error, in the field "code" of --json output and server responses, and in the log.',
      'Without a code, lists all codes.',
    ],
    groups: [{ title: 'Output', options: [{ flags: '--json', text: 'print as JSON' }] }],
  },
  {
    name: 'completion',
    operands: '<shell>',
    text: 'print the completion script for bash, zsh or fish',
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
    text: 'show help for one command',
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
      'permissions',
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

/** Returns the command with this name. */
export function commandRow(name: string): CommandRow | undefined {
  return commands.find((command) => command.name === name);
}

/** Returns every option of a command. */
export function optionsOf(command: CommandRow): OptionRow[] {
  return command.groups.flatMap((group) => [...group.options]);
}

/** Returns the flags of an option without its value: `-m, --model <name>` gives `-m` and `--model`. */
export function flagNames(option: OptionRow): string[] {
  return option.flags.match(/--?[\w-]+/g) ?? [];
}

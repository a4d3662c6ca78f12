import type { CommandRow, OptionGroup, OptionRow } from './command-row.ts';
import { command, optionGroups } from './command-row.ts';
import { runGroups, sandboxOptions, sessionGroups, taskGroups, workGroups } from './run-options.ts';

/** The default port of a server. */
export const defaultPort = 4370;

/** The session option of commands whose clients open sessions. */
const clientGroups = optionGroups(`
Session
  --no-session             do not save sessions
`);

/** The options for the address of a server. */
const listenOptions = `\
  --port <n>               listen on this port (default ${defaultPort}; 0: any free port)
  --host <address>         listen on this address (default 127.0.0.1)
  --allowed-host <name>    also serve requests for this host name, such as a proxy's; repeatable`;

function without(flags: RegExp, groups: readonly OptionGroup[]): OptionGroup[] {
  return groups.map(({ title, options }) => ({
    title,
    options: options.filter((option) => !flags.test(option.flags)),
  }));
}

/** Every command with its help, in the order of the help. */
export const commands: readonly CommandRow[] = [
  command(
    'run [prompt...]',
    'run a task until it is done (the default command)',
    `
The prompt comes from the arguments, piped input, or both; with both, the piped input becomes an attachment.
The response goes to standard output, everything else to standard error.
Without a terminal, calls that need approval are denied; if any were denied, the exit code is 5.
Ctrl-C cancels and prints the summary; a second Ctrl-C exits immediately.
`,
    { groups: runGroups },
  ),
  command(
    'chat [prompt...]',
    'chat in the terminal and review every edit; --demo needs no key',
    `
Enter sends, Alt-Enter starts a new line, /help lists commands. A message sent during a run steers it.
Ctrl-C stops a run; press it twice on an empty line to exit. The session is saved, as with run.

Chat
  --connect <url>          connect to a server at the address that cobbler serve prints
  --token <token>          token, if the address does not contain it
  --demo                   use a scripted model, without a key
`,
    { groups: without(/--attach/, [...workGroups, ...sessionGroups]) },
  ),
  command(
    'resume [id] [prompt...]',
    'continue a session, for example after a crash',
    `
Without an id, you choose a recent session in this directory; without a terminal, the latest is used. A
unique prefix of the id is enough. The session keeps its directory and model unless you pass others.
Permissions come from this command's options, not from the session.
A tool call that a crash interrupted runs again only if repeating it is safe.

All
  --all                    continue every interrupted background run with the options it was started with

At a limit
  --more <amount>          continue beyond the limit with this many more dollars, tokens or requests
`,
    { groups: taskGroups },
  ),
  command(
    'jobs [action] [id]',
    'list and stop background runs (--background)',
    `
cobbler jobs            list them, most recently changed first
cobbler jobs show ID    print the details and the output so far
cobbler jobs wait ID    wait until it has ended; the exit code is that of the run
cobbler jobs stop ID    stop it; if it was interrupted, exclude it from resume --all
A job is a session: cobbler resume ID, cobbler chat -s ID and cobbler sessions work with it as usual. A call that needs
approval ends the process; the job then waits until you resume it. See docs/jobs.md.

Options
  -n, --limit <n>          maximum number of jobs to list (default 20)
  --json                   list or show as JSON, one job per line
`,
    { words: ['show', 'wait', 'stop'] },
  ),
  command(
    'service <action> [name] [args...]',
    'continue jobs, or run a server or bot, when this machine starts',
    `
cobbler service install                  continue interrupted jobs at each start
cobbler service install serve -- ARGS    run cobbler serve with these arguments; also: assistant
cobbler service uninstall [NAME]         remove the service
cobbler service status [NAME]            show whether it is installed and running
Uses systemd on Linux and launchd on macOS, as your user. See docs/jobs.md.

Options
  --print                  with install: print the file instead of writing it
`,
    { words: ['install', 'uninstall', 'status'] },
  ),
  command(
    'sessions [action] [id] [title...]',
    'list, search, show, export, import, fork or delete sessions',
    `
cobbler sessions                  list sessions, most recently changed first
cobbler sessions search WORDS     find messages that contain all words; the exit code is 1 if there are none
cobbler sessions show ID          print the conversation and the tool calls
cobbler sessions export ID        print the events as JSON Lines
cobbler sessions import FILE      import an exported session; - for standard input
cobbler sessions fork ID          create an independent copy of a session
cobbler sessions rename ID TITLE  change the title; without TITLE, use the start of the first prompt
cobbler sessions delete ID        delete a session permanently
cobbler sessions prune            delete old sessions; needs --older-than, --keep-last or both
cobbler sessions vacuum           free the disk space of deleted sessions
cobbler sessions share ID         share a session of a running server with another user; needs --with

Options
  --here                   list only sessions in this directory
  -n, --limit <n>          maximum number of sessions or messages to list (default 20)
  --json                   list as JSON, one session or message per line
  -o, --output <file>      with export: write to this file
  --at <seq>               with fork: copy up to and including this event
  --older-than <time>      with prune: delete sessions unchanged for this long, such as 30d or 12h
  --keep-last <n>          with prune: keep this many of the latest sessions
  --with <user>            with share: the user, as named by the user's token
  --may <level>            with share: read (default), approve, use, or none to stop sharing
  --url <url>              with share: use this server instead of the one on this machine
`,
    { words: ['search', 'show', 'export', 'import', 'fork', 'rename', 'delete', 'prune', 'vacuum', 'share'] },
  ),
  command(
    'demo',
    'watch a scripted model fix a small project (no key needed)',
    `
A scripted model fixes a failing test in a small project. Everything else is real: the tools, the
files, the HTTP requests. The demo works in a new directory, which it keeps, and never asks for approval.

Options
  -C, --dir <dir>          reuse an earlier demo's directory in its current state
  --json                   print events as JSON Lines, as in run
  -v, --verbose            print arguments and results in full
`,
  ),
  command(
    'models',
    'list models, prices and available keys',
    `
Options
  --prices                 show all prices with their sources and dates
  --json                   print models and prices as JSON
`,
  ),
  command(
    'costs',
    'show what all sessions have cost, and a forecast for the month',
    `
Includes summaries, failed attempts and deleted sessions. Requests whose price is unknown
are counted, but the cost does not include them. The forecast assumes that you continue to spend at the pace of the
period until the end of the month. See docs/costs.md.

Options
  --by <group>             group by day (default), model, user, session, tool or kind of request
  --since <time>           only costs from the last <time>, such as 7d, 12h or 4w, or all (default 30d)
  -n, --limit <n>          maximum number of groups in the table (default 31)
  --server                 show the sessions of cobbler serve instead
  --delete-before <day>    delete the costs from before this day, such as 2026-01-01
  --json                   print the costs as JSON
  --csv                    print the costs as comma-separated values
`,
  ),
  command(
    'budgets',
    'show how much of each budget has been spent and how much is left',
    `
A budget limits the total spending of all commands and runs that use it, per hour, day or month:
  cobbler config set budgets.me '{ per: day, limits: { usd: 5 } }'   add or change a budget
  cobbler "fix the failing test" --budget me                         count one run toward it
  cobbler config set budget me                                       count all runs toward it
See docs/budgets.md.

Options
  --store <url>            show the budgets of a server that uses this database
  --json                   print the budgets as JSON
`,
  ),
  command(
    'new [kind] [name]',
    'create an agent as a folder: cobbler new agent NAME',
    `
Writes instructions.md, tools/count_words.ts, evals/count_words.jsonl and README.md. You do not need to install anything.
See cobbler docs agent-folder.

Options
  --json                   print the folder and the next commands as JSON
`,
    { words: ['agent'] },
  ),
  command(
    'info [folder]',
    'show what an agent folder contains, and what is not used and why',
    `
This runs the code of its tools. The exit code is 2 if a file is broken.

Options
  --json                   print as JSON
`,
    { words: 'file' },
  ),
  command(
    'eval [folder] [name...]',
    'run the evals of an agent folder, or only those with these names',
    `
A line of evals/NAME.jsonl is a case: {"prompt":"What is 2 + 2?","contains":"4","calls":["add"]}. Each is run like
cobbler run, without a session, in a new directory with the files of evals/NAME. The limits apply to each case, a
budget to all. The exit code is 1 if a case fails. See cobbler docs agent-folder.

Output
  --json                   print a JSON object for each case, and the total
`,
    { groups: without(/--(attach|agent|dir|backend|plan|ask|trust)\b/, workGroups), words: 'file' },
  ),
  command(
    'dev [folder]',
    'serve an agent folder with a web page and a chat, and reload it on changes',
    `
After a change, the next run uses the new files; a run in progress keeps its own. If a file is broken, the last
version that worked stays in use. The sessions are those of this agent only. Schedules run at their times.

Server
${listenOptions}
  --store <place>          keep sessions in this file
  --log-level <level>      debug, info, warn or error
`,
    { groups: without(/--(attach|agent|backend|plan) /, workGroups), words: 'file' },
  ),
  command(
    'permissions [action] [rule]',
    "list, remove or test a directory's permission rules",
    `
cobbler permissions                  list the rules of this directory's .cobbler/config.yaml
cobbler permissions remove RULE      remove an allow rule and forget that you accepted it
cobbler permissions test COMMAND     show whether a command would run, and which rule decides
cobbler permissions test 'TOOL(…)'   the same for a call to another tool, such as edit_file(src/a.ts)

Options
  -C, --dir <dir>          use the rules of this directory (default: current)
  --in <dir>               with test: run the command in this subdirectory
  --json                   list as JSON, or print the result of test as JSON
`,
    { groups: workGroups.filter(({ title }) => title === 'Permissions'), words: ['remove', 'test'] },
  ),
  command(
    'skills',
    'list the skills, commands and agents of this directory and your own',
    `
A skill is a directory that contains SKILL.md. Skills are in .agents/skills, .claude/skills or .cobbler/skills, in the
project or in your home directory. Commands and agents are Markdown files in the directories commands and agents of
.claude, .cobbler or .opencode. Those of a project are used only after you trust their contents: cobbler trust.
See docs/skills.md.

Options
  -C, --dir <dir>          list those of this directory (default: current)
  --json                   print as JSON
`,
  ),
  command(
    'trust [dir]',
    'trust the skills, commands and agents that a project contains now',
    `
If one of these files changes later, it is not used until you trust it again. In a terminal, run and chat ask you.
`,
  ),
  command(
    'config [action] [name] [value]',
    'show and change settings; set-key stores a key',
    `
cobbler config                    show every setting and its source
cobbler config set-key PROVIDER   store a key that you type (not shown) or pipe in
cobbler config set NAME VALUE     store a setting, such as: set model best

Options
  --json                   show the settings as JSON
`,
    { words: ['set-key', 'set'] },
  ),
  command(
    'doctor [file]',
    'check the setup, or a transcript, and suggest fixes',
    `
With FILE (or - for standard input), checks a transcript instead: events from \`cobbler run --json\`, or
a request body or its messages, for Claude, OpenAI Responses or Chat Completions. The report lists
everything that a service would reject; the exit code is 0 when there are no problems.

Options
  --live                   also request one token from the model
  --json                   print the checks as JSON
  -m, --model <name>       check this model instead of the configured one
  --base-url <url>         check this address

With FILE
  --fix                    write a repaired transcript (default: to standard output)
  -o, --output <file>      write the repaired transcript to this file
  --in-place               overwrite FILE
`,
    { words: 'file' },
  ),
  command(
    'serve [dir...]',
    'serve sessions over HTTP, protected by a token',
    `
Prints one address that contains the token, and serves until Ctrl-C. The options of this command set the models,
directories, tools, permissions and limits. Requests can only choose among the models and directories. Calls that need
approval wait for a user: cobbler approve ID, or POST to the API, which /docs describes. With --agent, the server runs
the schedules of the agent. See docs/server.md.

Sessions start in the first directory, or in the current one. The page also offers the others, and the directories of
earlier sessions.

Server
${listenOptions}
  --demo                   use a scripted model, without a key; nothing is saved
  --rotate-token           replace the owner token
  --store <place>          keep sessions in this file, or in a database: postgres://user@host/name
  --runner <name>          restate: runs survive a crash, and any process can continue them
  --restate <urls>         Restate ingress (default http://127.0.0.1:8080)
  --restate-admin <urls>   Restate admin API (default http://127.0.0.1:9070)
  --restate-host <address> address to listen on for Restate (default 127.0.0.1)
  --restate-port <n>       port to listen on for Restate (default 9080)
  --restate-address <url>  address at which Restate reaches this process, for example through a proxy
  --restate-identity-keys <keys> public keys of Restate; required if other machines can reach --restate-host
  --log-level <level>      minimum level of the messages logged to standard error: debug, info, warn or error
`,
    { groups: without(/--attach/, workGroups) },
  ),
  command(
    'acp',
    'work in an editor: Zed, JetBrains, Neovim, Emacs and others',
    `
An editor starts this command and speaks the Agent Client Protocol over standard input and output. The editor
sets the directory and asks before edits and commands; the options of this command set model, tools and limits.
Setup: docs/editors.md.
`,
    { groups: [...without(/--(attach|dir|backend|plan) /, workGroups), ...clientGroups] },
  ),
  command(
    'mcp',
    'serve as a tool for other agents: Claude Code, Codex, Cursor and others',
    `
A program starts this command and speaks the Model Context Protocol over standard input and output. The program can
start, steer and stop a task, read its status and answer approval requests. Setup: docs/mcp.md.
To use MCP servers in Cobbler: --mcp.
`,
    { groups: [...without(/--(attach|backend|plan) /, workGroups), ...clientGroups] },
  ),
  command(
    'assistant [action] [url]',
    'run a Telegram bot with memory; --local: chat here, without a key',
    `
cobbler assistant --local           chat here with a scripted model and real memory
cobbler assistant                   run the bot until Ctrl-C; a restart resumes unfinished work
cobbler assistant set-webhook URL   receive updates by webhook; delete-webhook removes it
cobbler assistant status            show the bot and its running turns
cobbler assistant audit             show requests and calls of the chats; a signed log: cobbler audit
cobbler assistant outbox            show messages that are waiting, have failed or may have been sent
TELEGRAM_BOT_TOKEN            from @BotFather
TELEGRAM_ALLOWED_USERS        comma-separated user ids; when unset, everyone is ignored
TELEGRAM_ADMIN_USERS          ids of the users who are asked whether to continue when a budget is reached
TELEGRAM_WEBHOOK_SECRET       generated and stored when unset
COBBLER_ASSISTANT_TIME_ZONE   same as --time-zone
COBBLER_EMBEDDER_API_KEY      for --embedder URL#MODEL
ANTHROPIC_MODEL and the keys work as in other commands. See docs/assistant.md.

Assistant
  --local                  chat in this terminal; without -m, with a scripted model
  --agent <folder>         be the agent in this folder, on its channels; runs its code
  -m, --model <name>       model (default: ANTHROPIC_MODEL, or claude-haiku-4-5)
  --base-url <url>         use another server
  --api <name>             OpenAI API to use: responses or chat
  --retry-for <time>       retry an overloaded service for this long (default 5m)
  --tools <list>           comma-separated tools (default none, or those of the agent)
  -C, --dir <dir>          working directory for the tools
${sandboxOptions}
  --persona <file>         description of the assistant and its style
  --time-zone <name>       time zone for users who have not set one (default: that of this machine)
  --embedder <name>        search memory by meaning: openai[:MODEL] or URL#MODEL
  --embedder-floor <n>     minimum cosine similarity of related texts
  --budget <name>          count toward this budget (see: cobbler help budgets)
  --keep-days <n>          keep logs and sent messages for this many days (default 30)

Telegram
  --webhook                receive updates by webhook instead of polling
  --port <n>               port (default 8787; 0: any free port)
  --host <address>         address (default 127.0.0.1)
  --path <path>            path (default /telegram)
  --api-root <url>         your own Bot API server
  --log-level <level>      minimum level to log: debug (with message text), info, warn or error

With audit and outbox
  --chat <id>              audit: this chat only
  --since <time>           audit: only entries from the last <time>, such as 2d, 12h or 30m
  --json                   print one JSON object per line
`,
    { words: ['set-webhook', 'delete-webhook', 'status', 'audit', 'outbox'] },
  ),
  command(
    'approve [id]',
    'allow a waiting call on the server; without an id, list the waiting calls',
    `
A unique prefix of the id is enough. A decision applies once, to exactly the call shown.

Options
  --json                   without an id: print the calls as JSON, one per line
  --url <url>              use this server instead of the one on this machine
`,
  ),
  command(
    'deny [id]',
    'deny a waiting call on the server',
    `
A unique prefix of the id is enough.

Options
  --url <url>              use this server instead of the one on this machine
  --message <text>         message for the model
`,
  ),
  command(
    'token <action> [name]',
    'create, list or revoke the tokens of a running server',
    `
cobbler token create NAME    create a token for a user and print its secret
cobbler token list           list all tokens, without their secrets
cobbler token revoke ID      revoke a token and close the event streams opened with it
Tokens with the same name belong to one user, who sees only that user's sessions. See docs/server.md.

Options
  --scope <list>           with create: read, prompt, approve, admin (default read,prompt,approve)
  --expires <time>         with create: expire after this time, such as 12h or 30d
  --budget <name>          with create: count its prompts toward this budget
  --rate <n>               with create: allow at most this many requests that change something, such as 30/min
  --sessions <n>           with create: run at most this many sessions of the user at the same time
  --json                   with list: print the tokens as JSON
  --url <url>              use this server instead of the one on this machine
`,
    { words: ['create', 'list', 'revoke'] },
  ),
  command(
    'audit [action] [file]',
    'show and check the signed log of approvals and calls',
    `
cobbler audit                 show the latest records
cobbler audit verify [FILE]   check the log, or an export; the exit code is 1 if a line is bad
cobbler audit export          print the log
Records contain digests instead of contents. For an assistant's chats and costs: cobbler assistant audit.
See docs/audit.md.

Options
  --since <time>           only records from the last <time>, such as 7d or 12h
  --session <id>           only records of this session
  --kind <kind>            only approval, decision, call, rule, token, share or another kind
  -n, --limit <n>          maximum number of records (default 50; with --json all)
  --json                   print JSON
  --anchor <digest>        with verify: the log must contain this line
`,
    { words: ['show', 'verify', 'export'] },
  ),
  command(
    'backup <folder>',
    'back up all data to a new directory, even while a server is running',
    `
Copies the sessions, tokens, keys, memory and chats in COBBLER_HOME and writes a manifest. A server or bot can
keep running. The copy contains secrets, and only you can read it. See docs/operations.md.
`,
  ),
  command(
    'restore <folder>',
    'restore a backup into the COBBLER_HOME directory, which must be empty',
    `
Checks every file against the manifest first and never overwrites anything. Stop the original server and bot
before you start them on the restored copy; otherwise, the original and the copy would do the same work.
`,
  ),
  command(
    'store <action> [file]',
    'check session files for damage, and copy the intact data',
    `
cobbler store verify [FILE]    verify checksums; without FILE: all files in COBBLER_HOME
cobbler store salvage [FILE]   copy the intact data to FILE.salvaged and list what each session lost
The exit code is 1 if data is damaged. salvage does not change FILE, but --replace renames it. First stop
every program that uses FILE. See docs/operations.md.

Options
  --json                   with verify: print the report as JSON, one file per line
  --to <file>              with salvage: write to this file
  --replace                with salvage: put the new file in place, keep the old one as FILE.damaged
`,
    { words: ['verify', 'salvage'] },
  ),
  command(
    'docs [action] [words...]',
    'search and read the documentation offline',
    `
cobbler docs                    list the pages
cobbler docs search WORDS       find passages, the best first; the exit code is 1 if there are none
cobbler docs PAGE               print a page

Options
  -n, --limit <n>          maximum number of passages (default 5)
  --json                   print as JSON
`,
    { words: ['search'] },
  ),
  command(
    'explain [code...]',
    'explain an error code and what to do about it',
    `
The code is in the last line of an error, in the "code" field of --json output and server responses, and in the log.
Without a code, lists all codes.

Output
  --json                   print as JSON
`,
  ),
  command(
    'completion <shell>',
    'print the completion script for bash, zsh or fish',
    `
bash: eval "$(cobbler completion bash)"      in ~/.bashrc
zsh:  eval "$(cobbler completion zsh)"       in ~/.zshrc, after compinit
fish: cobbler completion fish | source       in ~/.config/fish/config.fish
`,
    { words: ['bash', 'zsh', 'fish'] },
  ),
  command('help [command]', 'show help for one command', ''),
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

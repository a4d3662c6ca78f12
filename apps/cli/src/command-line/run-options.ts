import type { OptionGroup } from './command-row.ts';
import { optionGroups } from './command-row.ts';

/** The options for the sandbox of commands. */
export const sandboxOptions: string = `\
  --sandbox <level>        where commands can write: workspace (default), strict (nowhere) or off; needs bubblewrap
  --no-sandbox             run commands with all your permissions
  --allow-host <host>      let web_fetch and sandboxed commands reach HOST, HOST:PORT or *.HOST; repeatable`;

/** The options of a task that apply to every client: all but those of its session and its output. */
export const workGroups: readonly OptionGroup[] = optionGroups(`
Model
  -m, --model <name>       fast, balanced (default), best, or a model id; claude:, openai: or gemini: names the provider
  --fallback <name>        model to use if the main one is overloaded, unreachable or unavailable; repeatable
  --effort <level>         how much the model reasons: low, medium, high or max
  --search                 let the model search the web with its provider's own search, which has a price per search
  --base-url <url>         server that implements the provider's API
  --api <name>             OpenAI API to use: responses or chat
  --backend <name>         let another program do the work, in the sandbox: claude-code or codex

Task
  --agent <folder>         use the agent in this folder, with its tools, skills and MCP servers; runs its code
  -C, --dir <dir>          work in this directory (default: the current one)
  -f, --attach <file>      attach a text file, image, PDF or audio file; repeatable
  --system <text>          replace the built-in instructions with this text, or @FILE
  --append-system <text>   append this text, or @FILE, to the instructions
  --no-context-files       skip AGENTS.md, CLAUDE.md, and the project's skills, commands and agents
  --tools <list>           use only these tools (separated by commas), or \`none\`
  --delegate <list>        programs that the agent tool can use: claude, codex or none (default: those installed)
  --no-agents              turn off the agent tool, which gives tasks to sub-agents and these programs
  --mcp <server>           add the tools of an MCP server: NAME=COMMAND or URL; repeatable

Permissions
  --ask                    ask before edits and commands (default)
  --edits                  edit without asking, but ask before commands
  --sandboxed              edit and run commands in the sandbox; ask before calls that leave it
  --yes                    ask only before writes to protected files
  --read-only              only read
  --plan                   only read until you approve a plan
  --allow <rule>           allow matching calls, such as 'run_command(npm test)'; repeatable
  --allow-guarded <path>   allow writes to a protected path, such as .github; repeatable
  --trust <tool>           with --backend: trust what this tool, such as WebSearch, reads and sends; repeatable
${sandboxOptions}

Limits
  --max-turns <n>          maximum requests to the model (default 100)
  --max-repeats <n>        end the run after this many identical turns, or \`never\` (default 6)
  --max-usd <amount>       maximum cost in US dollars
  --max-tokens <n>         maximum tokens, input and output together
  --budget <name>          count toward this budget (see: cobbler help budgets)
  --ask-at-limit           when a cost or token limit or a budget is reached, ask whether to continue
  --timeout <time>         maximum time, such as 90s or 10m (default 1h)
  --retry-for <time>       retry an overloaded or unreachable service for this long, such as 2h, or never (default 5m)
  --allow-unpriced         with --max-usd: also allow models whose price is unknown

Long sessions
  --compact-above <n>      above this many tokens, summarize older messages (or \`never\`; default: 80% of the window)
  --offload-above <bytes>  offload tool output larger than this, or never (default 64k)
`);

/** The options of a task without its session. `--print` does nothing; `--json-deltas` is the internal `--json=deltas`. */
export const taskGroups: readonly OptionGroup[] = [
  ...workGroups,
  ...optionGroups(`
Output
  -o, --output <file>      also write the last response to this file
  --json                   print events as JSON Lines; --json=deltas also streams partial responses
  -q, --quiet              print only the response
  -v, --verbose            print arguments and results in full, and request ids
  --record <file>          record the run, to replay it without network or key
  --replay <file>          replay a recorded run without calling the model or tools
  --refresh                with --replay: run the same task again with a real model, and record it again
  --live-tools             with --replay: run the read-only tools; with --yes, all tools
  -p, --print
  --json-deltas

Background
  --background             run in a process that continues when this terminal closes; see: cobbler help jobs
  --notify                 when the run ends, call the webhook or command of the notify setting, as with --background
  --job <id>
`),
];

/** The options for the session of a task. */
export const sessionGroups: readonly OptionGroup[] = optionGroups(`
Session
  -c, --continue           continue the latest session of this directory
  -s, --session <id>       continue this session; a unique prefix of its id is enough
  --fork                   with -c or -s: continue in a copy and leave that session unchanged
  --no-session             do not save the session
`);

/** All options of `run`. */
export const runGroups: readonly OptionGroup[] = [...taskGroups, ...sessionGroups];

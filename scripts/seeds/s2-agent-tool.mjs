/** @type {import('./table.mjs').Table} */
export const agentTool = {
  id: 'S2',
  title: 'delegating tool',
  entries: {
    'S2.1': {
      asks: 'the tool is named agent and has five actions',
      in: ['packages/delegate/src/agent-tool.ts'],
    },
    'S2.2': {
      asks: 'create takes backend, task, folder, instructions, turns, async',
      in: ['packages/delegate/src/agent-tool.ts'],
    },
    'S2.3': {
      asks: 'create waits and answers with five keys',
      in: ['packages/delegate/src/agent-tool.ts', 'packages/delegate/src/sessions.ts'],
    },
    'S2.4': {
      asks: 'create with async answers at once: running',
      in: ['packages/delegate/src/agent-tool.ts'],
    },
    'S2.5': {
      asks: 'send goes on in the program’s own conversation',
      in: ['packages/delegate/src/agent-tool.ts', 'packages/delegate/src/sessions.ts'],
    },
    'S2.6': { asks: 'status tells how a session stands', in: ['packages/delegate/src/sessions.ts'] },
    'S2.7': { asks: 'list shows every session', in: ['packages/delegate/src/sessions.ts'] },
    'S2.8': { asks: 'destroy ends and forgets one', in: ['packages/delegate/src/sessions.ts'] },
    'S2.9': {
      asks: 'a backend has a name, runs or starts a request, gives a result',
      in: ['packages/delegate/src/backend.ts', 'packages/delegate/src/cli-backend.ts'],
    },
    'S2.10': {
      asks: 'programs are looked up on the PATH; the tool is there regardless',
      in: ['packages/delegate/src/program.ts', 'packages/delegate/src/cli-backend.ts'],
    },
    'S2.11': { asks: 'a missing program is named, word for word', in: ['packages/delegate/src/program.ts'] },
    'S2.12': {
      asks: 'how Claude Code is started and read',
      in: ['packages/delegate/src/claude/claude-dialect.ts', 'packages/delegate/src/claude/claude-line.ts'],
    },
    'S2.13': {
      asks: 'how Codex is started and read',
      in: ['packages/delegate/src/codex/codex-dialect.ts', 'packages/delegate/src/codex/codex-line.ts'],
    },
    'S2.14': {
      asks: 'sessions as-1, as-2 …, also when made at once; no id twice',
      in: ['packages/delegate/src/sessions.ts', 'packages/delegate/src/session-book.ts'],
    },
    'S2.15': {
      asks: 'eight sessions at most, and what the ninth is told',
      in: ['packages/delegate/src/sessions.ts'],
    },
    'S2.16': {
      asks: 'output is cut at 1 MiB, and that is no failure',
      in: ['packages/delegate/src/errand.ts', 'packages/delegate/src/line-reader.ts'],
    },
    'S2.17': {
      asks: '600 s for a job, then its process is killed',
      in: ['packages/delegate/src/cli-backend.ts', 'packages/agent/src/node/process/process-tree.ts'],
    },
    'S2.18': {
      asks: 'a job in the background ends by itself; a crash has failed',
      in: ['packages/delegate/src/sessions.ts', 'packages/delegate/src/cli-backend.ts'],
    },
    'S2.19': {
      asks: 'an exit code other than 0 is an error with its words',
      in: ['packages/delegate/src/cli-backend.ts'],
    },
    'S2.20': {
      asks: 'output that cannot be read is given as it is',
      in: ['packages/delegate/src/cli-backend.ts'],
    },
    'S2.21': {
      asks: 'what an unknown session is answered',
      in: ['packages/delegate/src/sessions.ts'],
    },
    'S2.22': {
      asks: 'the folder to work in lies inside the workspace',
      in: ['packages/delegate/src/agent-tool.ts', 'packages/agent/src/node/real-path.ts'],
    },
    'S2.23': {
      asks: 'named for later: sessions that outlive the process, progress',
      in: ['packages/delegate/src/session-book.ts', 'packages/delegate/src/delegated-loop.ts'],
    },
  },
  departures: [
    {
      of: ['S2.3', 'S2.6'],
      seed: 'a job is running, completed or failed',
      here: '`timeout` and `cancelled` too, and `destroyed` of one that is gone',
      why: 'the model should know what it can do about it',
    },
    {
      of: ['S2.11'],
      seed: 'the backend’s name, or the program’s: both are given',
      here: 'the program’s: `claude CLI not found in PATH`',
      why: 'it is what somebody has to install',
    },
    {
      of: ['S2.12'],
      seed: 'prompt as argument, one JSON at the end',
      here: 'prompt on standard input, JSON lines',
      why: 'long prompts do not fit; lines show progress and say why nothing came',
    },
    {
      of: ['S2.12', 'S2.13'],
      seed: 'permissions bypassed',
      here: 'read-only unless whoever makes the tool says otherwise',
      why: 'promise 20',
    },
    {
      of: ['S2.13'],
      seed: 'the result is in `turn.completed`',
      here: 'the last `agent_message`',
      why: 'Codex has moved it',
    },
    {
      of: ['S2.14'],
      seed: 'sessions in memory',
      here: 'in a file; `sessionsFile: null` keeps them in memory',
      why: 'the seed wishes for it later: a restart loses no conversation',
    },
    {
      of: ['S2.19'],
      seed: 'standard error in the result',
      here: 'the program’s own error first',
      why: 'it holds noise, and API errors are not in it',
    },
    {
      of: ['S2.20'],
      seed: 'raw text when nothing can be parsed',
      here: 'as the output of a failed job',
      why: 'a missing last word is no success',
    },
    {
      of: ['S2.23'],
      seed: 'a backend in tmux, some day',
      here: 'none',
      why: 'both programs tell all they do as JSON lines; a screen would have to be read back',
    },
  ],
};

/** @type {import('./table.mjs').Table} */
export const agentTool = {
  id: 'S2',
  title: 'delegating tool',
  entries: {
    'S2.1': {
      asks: 'the tool is named agent and has five actions',
      in: ['packages/delegate/src/agent-tool/agent-tool.ts'],
    },
    'S2.2': {
      asks: 'create takes backend, task, directory, instructions, turns, async',
      in: ['packages/delegate/src/agent-tool/agent-tool.ts'],
    },
    'S2.3': {
      asks: 'create waits and returns five keys',
      in: ['packages/delegate/src/agent-tool/agent-tool.ts', 'packages/delegate/src/agent-tool/sessions.ts'],
    },
    'S2.4': {
      asks: 'create with async returns at once: running',
      in: ['packages/delegate/src/agent-tool/agent-tool.ts'],
    },
    'S2.5': {
      asks: 'send continues the program’s own conversation',
      in: ['packages/delegate/src/agent-tool/agent-tool.ts', 'packages/delegate/src/agent-tool/sessions.ts'],
    },
    'S2.6': {
      asks: 'status returns the status of a session',
      in: ['packages/delegate/src/agent-tool/sessions.ts'],
    },
    'S2.7': { asks: 'list returns every session', in: ['packages/delegate/src/agent-tool/sessions.ts'] },
    'S2.8': {
      asks: 'destroy ends and removes a session',
      in: ['packages/delegate/src/agent-tool/sessions.ts'],
    },
    'S2.9': {
      asks: 'a backend has a name, runs or starts a request, returns a result',
      in: ['packages/delegate/src/backend/backend.ts', 'packages/delegate/src/cli/cli-backend.ts'],
    },
    'S2.10': {
      asks: 'programs are found on the PATH; the tool exists regardless',
      in: ['packages/delegate/src/cli/program.ts', 'packages/delegate/src/cli/cli-backend.ts'],
    },
    'S2.11': {
      asks: 'a missing program is named in a fixed message',
      in: ['packages/delegate/src/cli/program.ts'],
    },
    'S2.12': {
      asks: 'how Claude Code is started and read',
      in: ['packages/delegate/src/claude/claude-adapter.ts', 'packages/delegate/src/claude/claude-line.ts'],
    },
    'S2.13': {
      asks: 'how Codex is started and read',
      in: ['packages/delegate/src/codex/codex-adapter.ts', 'packages/delegate/src/codex/codex-line.ts'],
    },
    'S2.14': {
      asks: 'sessions are named as-1, as-2 …, also when created concurrently; no id twice',
      in: [
        'packages/delegate/src/agent-tool/sessions.ts',
        'packages/delegate/src/agent-tool/session-registry.ts',
      ],
    },
    'S2.15': {
      asks: 'eight sessions at most, and a fixed message for the ninth',
      in: ['packages/delegate/src/agent-tool/sessions.ts'],
    },
    'S2.16': {
      asks: 'output is truncated at 1 MiB, which is not a failure',
      in: ['packages/delegate/src/cli/cli-process.ts', 'packages/delegate/src/cli/line-reader.ts'],
    },
    'S2.17': {
      asks: '600 s per job, then its process is killed',
      in: ['packages/delegate/src/cli/cli-backend.ts', 'packages/agent/src/node/process/process-tree.ts'],
    },
    'S2.18': {
      asks: 'a background job ends without being polled; a crash counts as failed',
      in: ['packages/delegate/src/agent-tool/sessions.ts', 'packages/delegate/src/cli/cli-backend.ts'],
    },
    'S2.19': {
      asks: 'an exit code other than 0 is an error with the program’s message',
      in: ['packages/delegate/src/cli/cli-backend.ts'],
    },
    'S2.20': {
      asks: 'output that cannot be parsed is returned as it is',
      in: ['packages/delegate/src/cli/cli-backend.ts'],
    },
    'S2.21': {
      asks: 'a fixed message for an unknown session',
      in: ['packages/delegate/src/agent-tool/sessions.ts'],
    },
    'S2.22': {
      asks: 'the working directory is inside the workspace',
      in: ['packages/delegate/src/agent-tool/agent-tool.ts', 'packages/agent/src/node/real-path.ts'],
    },
    'S2.23': {
      asks: 'mentioned for later: sessions that outlive the process, progress',
      in: [
        'packages/delegate/src/agent-tool/session-registry.ts',
        'packages/delegate/src/harness/delegated-loop.ts',
      ],
    },
  },
  departures: [
    {
      of: ['S2.3', 'S2.6'],
      asked: 'a job is running, completed or failed',
      here: 'also `timeout` and `cancelled`, and `destroyed` for a removed one',
      why: 'the model should know what it can do about it',
    },
    {
      of: ['S2.11'],
      asked: 'the backend’s name or the program’s: both appear',
      here: 'the program’s: `claude CLI not found in PATH`',
      why: 'it is what the user has to install',
    },
    {
      of: ['S2.12'],
      asked: 'prompt as an argument, one JSON at the end',
      here: 'prompt on standard input, JSON lines',
      why: 'long prompts do not fit; lines show progress and explain a missing result',
    },
    {
      of: ['S2.12', 'S2.13'],
      asked: 'permissions bypassed',
      here: 'read-only unless the tool is created with more',
      why: 'promise 20',
    },
    {
      of: ['S2.13'],
      asked: 'the result is in `turn.completed`',
      here: 'the last `agent_message`',
      why: 'Codex has moved it',
    },
    {
      of: ['S2.14'],
      asked: 'sessions in memory',
      here: 'in a file; `sessionsFile: null` keeps them in memory',
      why: 'the specification mentions it for later: a restart loses no conversation',
    },
    {
      of: ['S2.19'],
      asked: 'standard error in the result',
      here: 'the program’s own error first',
      why: 'standard error contains noise but no API errors',
    },
    {
      of: ['S2.20'],
      asked: 'raw text when nothing can be parsed',
      here: 'as the output of a failed job',
      why: 'a missing final message is not a success',
    },
    {
      of: ['S2.23'],
      asked: 'a backend in tmux, later',
      here: 'none',
      why: 'both programs report everything as JSON lines; a screen would have to be parsed',
    },
  ],
};

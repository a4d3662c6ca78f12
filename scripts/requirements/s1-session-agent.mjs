/** @type {import('./table.mjs').Table} */
export const sessionAgent = {
  id: 'S1',
  title: 'session agent',
  entries: {
    'S1.1': {
      asks: 'execute takes a prompt, a session and optional callbacks, including the gate',
      in: [
        'packages/delegate/src/session-agent/session-agent.ts',
        'packages/delegate/src/sdk/claude-code-agent.ts',
      ],
    },
    'S1.2': {
      asks: 'cancel interrupts the active run of a session',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts', 'packages/delegate/src/session-agent/engine.ts'],
    },
    'S1.3': {
      asks: 'shutdown ends everything and releases it',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.4': {
      asks: 'a response is frozen and has defaults for everything but its content',
      in: ['packages/delegate/src/session-agent/session-agent.ts'],
    },
    'S1.5': {
      asks: 'tool activity is frozen; null means that the tool is done',
      in: ['packages/delegate/src/session-agent/session-agent.ts', 'packages/delegate/src/sdk/turn.ts'],
    },
    'S1.6': {
      asks: 'texts and tools are reported in order; the result is the response',
      in: ['packages/delegate/src/sdk/turn.ts', 'packages/delegate/src/claude/claude-line.ts'],
    },
    'S1.7': {
      asks: 'each option comes from the configuration or the session, as listed',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.8': {
      asks: 'in plan mode the instructions say: explore, plan, ExitPlanMode',
      in: ['packages/delegate/src/sdk/plan-mode.ts', 'packages/delegate/src/sdk/gatekeeper.ts'],
    },
    'S1.9': {
      asks: 'resume only with the id of a conversation',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.10': {
      asks: 'a stale conversation is discarded and restarted, once',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts', 'packages/delegate/src/cli/cli-backend.ts'],
    },
    'S1.11': {
      asks: 'five API failures are transient: 500, 529, overload and similar',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts', 'packages/delegate/src/events/failure.ts'],
    },
    'S1.12': {
      asks: 'one retry of those, after 2 s; three attempts in total',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.13': {
      asks: 'other failures are returned at once, unchanged',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.14': {
      asks: 'a remaining failure is described in one friendly sentence, still as an error',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.15': {
      asks: 'any object with the three methods is an agent; nothing is registered',
      in: [
        'packages/delegate/src/session-agent/engine.ts',
        'packages/delegate/src/session-agent/to-session-agent.ts',
      ],
    },
    'S1.16': {
      asks: 'the conversation’s id stays in the session for the next prompt',
      in: [
        'packages/delegate/src/sdk/claude-code-agent.ts',
        'packages/delegate/src/session-agent/agent-backend.ts',
      ],
    },
  },
  departures: [
    {
      of: ['S1.6'],
      asked: 'nothing about a call’s result',
      here: 'callbacks do not receive it; harnesses show it',
      why: 'it belongs to the program’s conversation with its model, and no callback is specified for it',
    },
    {
      of: ['S1.7'],
      asked: '`allowedTools` is always passed on',
      here: 'omitted while a gate decides about calls',
      why: 'the program’s own list would bypass the gate',
    },
    {
      of: ['S1.7'],
      asked: 'the machine’s settings are read',
      here: 'none unless requested',
      why: 'the SDK now reads all of them, including instructions',
    },
    {
      of: ['S1.8'],
      asked: 'plan mode by instruction',
      here: 'also the program’s plan mode and a gate that rejects writes',
      why: 'an instruction alone is not reliable',
    },
    {
      of: ['S1.10'],
      asked: 'zero turns mean a stale conversation',
      here: 'zero turns and an error',
      why: 'a command of the program has no turns and succeeds',
    },
    {
      of: ['S1.11'],
      asked: 'the words of the result',
      here: 'its status; the words only if there is no status',
      why: 'the result is prose, and `500` can occur in any text',
    },
    {
      of: ['S1.12'],
      asked: 'every such failure is retried',
      here: 'not once a tool has run',
      why: 'promise 5: its work would be done twice',
    },
  ],
};

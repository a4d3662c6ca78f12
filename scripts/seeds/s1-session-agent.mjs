/** @type {import('./table.mjs').Table} */
export const sessionAgent = {
  id: 'S1',
  title: 'session agent',
  entries: {
    'S1.1': {
      asks: 'execute takes prompt, session and optional callbacks, the gate among them',
      in: ['packages/delegate/src/session-agent.ts', 'packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.2': {
      asks: 'cancel interrupts what runs in a session',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts', 'packages/delegate/src/engine.ts'],
    },
    'S1.3': {
      asks: 'shutdown ends everything and lets it go',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.4': {
      asks: 'a response is frozen and has defaults for all but its content',
      in: ['packages/delegate/src/session-agent.ts'],
    },
    'S1.5': {
      asks: 'tool activity is frozen; null says that the tool is done',
      in: ['packages/delegate/src/session-agent.ts', 'packages/delegate/src/sdk/turn.ts'],
    },
    'S1.6': {
      asks: 'texts and tools are told in order; the result is the response',
      in: ['packages/delegate/src/sdk/turn.ts', 'packages/delegate/src/claude/claude-line.ts'],
    },
    'S1.7': {
      asks: 'each option comes from configuration or session, as listed',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.8': {
      asks: 'in plan mode the instructions say: explore, plan, ExitPlanMode',
      in: ['packages/delegate/src/sdk/plan-mode.ts', 'packages/delegate/src/sdk/gatekeeper.ts'],
    },
    'S1.9': {
      asks: 'resume only with an id of a conversation',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.10': {
      asks: 'a stale conversation is forgotten and begun anew, once',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts', 'packages/delegate/src/cli-backend.ts'],
    },
    'S1.11': {
      asks: 'five failures of the API may pass: 500, 529, overload and such',
      in: ['packages/delegate/src/sdk/transient.ts', 'packages/delegate/src/failure.ts'],
    },
    'S1.12': {
      asks: 'one retry of those, after 2 s; three tries in all',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts'],
    },
    'S1.13': {
      asks: 'other failures come back at once, unchanged',
      in: ['packages/delegate/src/sdk/transient.ts'],
    },
    'S1.14': {
      asks: 'what stays is said in one friendly sentence, still an error',
      in: ['packages/delegate/src/sdk/transient.ts'],
    },
    'S1.15': {
      asks: 'any object with the three methods is an agent; nothing is registered',
      in: ['packages/delegate/src/engine.ts', 'packages/delegate/src/to-session-agent.ts'],
    },
    'S1.16': {
      asks: 'the conversation’s id stays in the session for the next prompt',
      in: ['packages/delegate/src/sdk/claude-code-agent.ts', 'packages/delegate/src/agent-backend.ts'],
    },
  },
  departures: [
    {
      of: ['S1.6'],
      seed: 'says nothing of a call’s result',
      here: 'callbacks do not hear it; harnesses show it',
      why: 'it is the program’s talk with its model, and the seed has no callback for it',
    },
    {
      of: ['S1.7'],
      seed: '`allowedTools` is always passed on',
      here: 'left out while somebody decides about calls',
      why: 'the program’s own list would go past the gate',
    },
    {
      of: ['S1.7'],
      seed: 'settings of the machine are read',
      here: 'none unless asked for',
      why: 'the SDK reads all of them now, instructions included',
    },
    {
      of: ['S1.8'],
      seed: 'plan mode by instruction',
      here: 'the program’s plan mode and a gate that refuses writes, too',
      why: 'an instruction alone does not hold',
    },
    {
      of: ['S1.10'],
      seed: 'zero turns are stale',
      here: 'zero turns and an error',
      why: 'a command of the program has no turns and succeeds',
    },
    {
      of: ['S1.11'],
      seed: 'words of the result',
      here: 'its status; the words only where there is none',
      why: 'the result is prose, and `500` may stand in any text',
    },
    {
      of: ['S1.12'],
      seed: 'every such failure is tried again',
      here: 'not once a tool has run',
      why: 'promise 5: what was done would be done twice',
    },
  ],
};

/** @type {import('./table.mjs').Table} */
export const harness = {
  id: 'S4',
  title: 'harness, events, server',
  entries: {
    'S4.1': {
      asks: 'key, model, 4096 tokens, no instructions, ten turns',
      in: ['packages/provider-claude/src/claude-harness.ts'],
    },
    'S4.2': { asks: 'the model chooses its tools itself', in: ['packages/agent/src/interfaces/agent.ts'] },
    'S4.3': {
      asks: 'a tool: name, description, schema, a function that returns text',
      in: ['packages/agent/src/interfaces/tool.ts'],
    },
    'S4.4': {
      asks: 'created once from configuration, tools and a handler or null',
      in: ['packages/provider-claude/src/claude-harness.ts', 'packages/agent/src/harness/harness.ts'],
    },
    'S4.5': {
      asks: 'a prompt is recorded, announced, and processed to its end',
      in: ['packages/agent/src/harness/harness.ts', 'packages/agent/src/loop/driver.ts'],
    },
    'S4.6': {
      asks: 'one prompt at a time; a second one is an error',
      in: ['packages/agent/src/harness/harness.ts', 'apps/server/src/routes/event-routes.ts'],
    },
    'S4.7': {
      asks: 'cancel stops the prompt, and does nothing without one',
      in: ['packages/agent/src/harness/harness.ts', 'apps/server/src/routes/event-routes.ts'],
    },
    'S4.8': {
      asks: 'the history is append-only and keeps its order',
      in: ['packages/agent/src/events/fold.ts', 'packages/agent/src/loop/log.ts'],
    },
    'S4.9': {
      asks: 'whole blocks are reported, each once: text, call, result',
      in: ['packages/agent/src/harness/handler.ts'],
    },
    'S4.10': {
      asks: 'events arrive in protocol order, synchronously',
      in: ['packages/agent/src/harness/handler.ts', 'packages/agent/src/loop/feed.ts'],
    },
    'S4.11': {
      asks: 'tools are declared in Anthropic’s format, unchanged during a conversation',
      in: ['packages/provider-claude/src/envelope.ts', 'packages/agent/src/loop/executor.ts'],
    },
    'S4.12': {
      asks: 'the end: no tool calls, the maximum of turns, or a failure',
      in: ['packages/agent/src/loop/decide.ts', 'packages/agent/src/interfaces/limits.ts'],
    },
    'S4.13': {
      asks: 'tools run one after another; the first failure stops the rest',
      in: ['packages/agent/src/loop/call-tools.ts', 'packages/agent/src/loop/decide.ts'],
    },
    'S4.14': {
      asks: 'a tool’s failure is reported to the model and does not end the run',
      in: ['packages/agent/src/loop/tool-run.ts'],
    },
    'S4.15': {
      asks: 'GET /events: six types as data frames, timestamps in seconds',
      in: [
        'apps/server/src/sessions/frame.ts',
        'apps/server/src/sessions/broadcast.ts',
        'apps/server/src/routes/event-routes.ts',
      ],
    },
    'S4.16': {
      asks: 'a heartbeat comment every 30 s',
      in: ['apps/server/src/streams/event-stream.ts', 'apps/server/src/requests/limits.ts'],
    },
    'S4.17': {
      asks: 'POST /prompt with content, POST /cancel without a body',
      in: ['apps/server/src/routes/event-routes.ts'],
    },
    'S4.18': {
      asks: 'status: thinking, running a tool, idle',
      in: ['packages/agent/src/harness/handler.ts', 'apps/server/src/sessions/frame.ts'],
    },
  },
  departures: [
    {
      of: ['S4.1'],
      asked: 'model `claude-3-haiku-20240307`',
      here: 'the alias `fast`',
      why: 'the model is retired',
    },
    {
      of: ['S4.2'],
      asked: 'no other tool choice',
      here: '`none` is possible, nothing else',
      why: 'a final request, which turns the results so far into a response, must not call tools',
    },
    {
      of: ['S4.4'],
      asked: 'a constructor that cannot fail',
      here: 'a function, `claudeHarness`; a missing key throws at once',
      why: 'an object that exists works',
    },
    {
      of: ['S4.5'],
      asked: '`prompt` resolves or rejects',
      here: 'it returns a `Run` whose result has the status; `unwrap()` throws',
      why: 'as S0.14',
    },
    {
      of: ['S4.6'],
      asked: 'a second prompt is an error',
      here: 'a `Run` that failed with code `busy`; over HTTP 409',
      why: 'the same locally and remotely',
    },
    {
      of: ['S4.8'],
      asked: 'no message is ever replaced',
      here: 'none is replaced in the log; with a context policy, the model sees a summary of older ones',
      why: 'a conversation must be able to outgrow the model’s context window',
    },
    {
      of: ['S4.9'],
      asked: 'three handler methods',
      here: 'eight, all optional',
      why: 'user messages, reasoning, status and usage are reported too',
    },
    {
      of: ['S4.13'],
      asked: 'calls that were not run have no result',
      here: 'each gets a result that says so; handlers do not receive it',
      why: 'services reject a conversation with a call without a result',
    },
    {
      of: ['S4.15'],
      asked: 'frames as they happen',
      here: 'once they are committed, with ids',
      why: 'what was shown is never withdrawn, and a disconnect loses nothing',
    },
    {
      of: ['S4.17'],
      asked: 'no credentials',
      here: 'a token on every request',
      why: 'promise 15',
    },
    {
      of: ['S4.18'],
      asked: 'three states',
      here: 'also `waiting` and `error`; running a tool is `running_tool`',
      why: 'a call can wait for approval, and a run can fail',
    },
  ],
};

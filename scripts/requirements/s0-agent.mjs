/** @type {import('./table.mjs').Table} */
export const agent = {
  id: 'S0',
  title: 'agent interface and executor',
  entries: {
    'S0.1': {
      asks: 'one request returns one response; the caller owns the loop',
      in: ['packages/agent/src/interfaces/agent.ts', 'packages/agent/src/loop/executor.ts'],
    },
    'S0.2': {
      asks: 'a request carries its own conversation, tools and settings',
      in: ['packages/agent/src/interfaces/agent.ts', 'packages/agent/src/provider/create-agent.ts'],
    },
    'S0.3': {
      asks: 'maximum tokens: the request’s value; 0 means the agent’s default',
      in: ['packages/agent/src/provider/request-defaults.ts'],
    },
    'S0.4': {
      asks: 'temperature: the request’s value; -1 means the agent’s default',
      in: ['packages/agent/src/provider/request-defaults.ts'],
    },
    'S0.5': {
      asks: 'a tool is a name, a description, a JSON Schema and a function',
      in: ['packages/agent/src/interfaces/tool.ts', 'packages/agent/src/interfaces/standard-schema.ts'],
    },
    'S0.6': {
      asks: 'a response separates text, tool calls, usage and stop reason',
      in: ['packages/agent/src/interfaces/agent.ts', 'packages/agent/src/provider/response/assembler.ts'],
    },
    'S0.7': {
      asks: 'a tool call has an id, a tool name and arguments',
      in: ['packages/agent/src/interfaces/agent.ts', 'packages/agent/src/provider/response/block.ts'],
    },
    'S0.8': {
      asks: 'token counts are those that the provider reports, never estimates',
      in: ['packages/agent/src/values/usage.ts', 'packages/agent/src/provider/response/usage-count.ts'],
    },
    'S0.9': {
      asks: 'the stop reasons are complete, tool_use and max_tokens',
      in: ['packages/agent/src/interfaces/agent.ts'],
    },
    'S0.10': {
      asks: 'the loop continues after tool calls and ends without them',
      in: ['packages/agent/src/loop/decide.ts'],
    },
    'S0.11': {
      asks: 'the model is called first, and again with the tool results',
      in: ['packages/agent/src/loop/decide.ts', 'packages/agent/src/loop/request-model.ts'],
    },
    'S0.12': {
      asks: 'every tool call is executed and every result collected',
      in: ['packages/agent/src/loop/call-tools.ts', 'packages/agent/src/loop/tool-run.ts'],
    },
    'S0.13': {
      asks: 'a complete response without tool calls is the final one',
      in: ['packages/agent/src/loop/decide.ts', 'packages/agent/src/loop/result.ts'],
    },
    'S0.14': {
      asks: 'a failed request reaches the caller as its error',
      in: ['packages/agent/src/loop/request-model.ts', 'packages/agent/src/loop/run.ts'],
    },
    'S0.15': {
      asks: 'a deadline ends the run with a timeout error',
      in: ['packages/agent/src/loop/stopwatch.ts', 'packages/agent/src/values/lazy-abort-signal.ts'],
    },
    'S0.16': {
      asks: 'every request carries the whole conversation',
      in: ['packages/agent/src/events/fold.ts', 'packages/agent/src/provider/request/normalize-history.ts'],
    },
    'S0.17': {
      asks: 'roles are user, assistant, tool_result; a result names its call',
      in: ['packages/agent/src/values/message.ts'],
    },
    'S0.18': {
      asks: 'requests and responses are translated to and from Anthropic’s API',
      in: ['packages/provider-claude/src/envelope.ts', 'packages/provider-claude/src/turn.ts'],
    },
    'S0.19': {
      asks: 'responses stream internally and are returned whole',
      in: ['packages/provider-claude/src/stream-event.ts', 'packages/agent/src/provider/exchange.ts'],
    },
    'S0.20': {
      asks: '5xx and 429 are retried with growing delays; a cancel ends the wait',
      in: ['packages/agent/src/values/backoff.ts', 'packages/agent/src/provider/model-call.ts'],
    },
    'S0.21': {
      asks: 'no internals of the provider are exported',
      in: ['packages/provider-claude/src/index.ts'],
    },
    'S0.22': {
      asks: 'everything asynchronous takes an abort signal and obeys it at once',
      in: ['packages/agent/src/provider/http/abort.ts', 'packages/agent/src/values/lazy-abort-signal.ts'],
    },
    'S0.23': {
      asks: 'the executor sets the deadline and passes it, and aborts, on',
      in: ['packages/agent/src/loop/stopwatch.ts', 'packages/agent/src/loop/executor.ts'],
    },
    'S0.24': {
      asks: 'metrics add up tokens and invocations after each response',
      in: ['packages/agent/src/interfaces/metrics.ts'],
    },
    'S0.25': {
      asks: 'an error has a kind, a message and an accessible cause',
      in: ['packages/agent/src/values/errors.ts'],
    },
    'S0.26': {
      asks: 'six kinds of error, each with its meaning',
      in: ['packages/agent/src/values/errors.ts'],
    },
    'S0.27': {
      asks: 'the kind decides: retry, skip, or give up',
      in: ['packages/agent/src/values/backoff.ts', 'packages/agent/src/loop/call-tools.ts'],
    },
    'S0.28': {
      asks: 'configuration: provider, model, tokens, temperature, time-out, key',
      in: ['packages/agent/src/interfaces/config.ts', 'packages/provider-claude/src/create-claude.ts'],
    },
    'S0.29': {
      asks: 'without a key: COBBLER_AGENT_API_KEY, then ANTHROPIC_API_KEY',
      in: ['packages/agent/src/interfaces/config.ts', 'packages/provider-claude/src/endpoint.ts'],
    },
    'S0.30': {
      asks: 'settings are read from ~/.cobbler/config.yaml',
      in: ['packages/agent/src/node/config-file.ts', 'packages/agent/src/node/config-text.ts'],
    },
    'S0.31': {
      asks: 'two requests share nothing; a history belongs to one task',
      in: ['packages/agent/src/provider/create-agent.ts', 'packages/agent/src/loop/executor.ts'],
    },
    'S0.32': {
      asks: 'an unknown provider is an invalid configuration',
      in: ['packages/agent/src/interfaces/config.ts'],
    },
  },
  departures: [
    {
      of: ['S0.1', 'S0.2'],
      asked: '`Request`, `Response`',
      here: '`ModelRequest`, `ModelResponse`',
      why: 'the web’s own `Request` and `Response` are used in the same code',
    },
    {
      of: ['S0.4'],
      asked: 'a temperature for Claude',
      here: 'rejected as `invalid` before a byte is sent, for every model that accepts none',
      why: 'Claude’s API no longer has this field, and a setting is never dropped silently',
    },
    {
      of: ['S0.9'],
      asked: 'three stop reasons',
      here: 'seven, and limits and cancellation are statuses of the run',
      why: 'an unknown or filtered ending must not pass as `complete`',
    },
    {
      of: ['S0.10'],
      asked: 'no maximum of turns',
      here: '10 in the library, 100 on the command line',
      why: 'no default is infinite',
    },
    {
      of: ['S0.14'],
      asked: 'the error reaches the caller',
      here: 'as `result.error`; `result.unwrap()` throws it',
      why: 'every outcome carries the conversation and the usage so far, which an exception would lose',
    },
    {
      of: ['S0.15'],
      asked: 'whatever ends the context is a timeout',
      here: 'a deadline is a timeout; a cancel is `cancelled`, kind `aborted`',
      why: 'a user who cancels sees that it worked, not that something was too slow',
    },
    {
      of: ['S0.17'],
      asked: 'flat messages',
      here: 'content parts; `toFlat` and `fromFlat` convert',
      why: 'flat text has no place for reasoning, images and opaque provider data',
    },
    {
      of: ['S0.20', 'S0.27'],
      asked: 'retries in the Claude package, chosen by the executor',
      here: 'in the shared provider code, for every provider',
      why: 'one layer retries, the same way everywhere',
    },
    {
      of: ['S0.25'],
      asked: 'the cause is the error itself',
      here: 'its name, message and code',
      why: 'errors are stored and sent, so they must be data without stack or key',
    },
    {
      of: ['S0.26'],
      asked: 'six kinds of error',
      here: 'nine: also `auth`, `aborted` and `limit`',
      why: 'callers treat a rejected key, a cancel and a limit differently from a bad request',
    },
    {
      of: ['S0.28'],
      asked: '`requestTimeout` applies to one API call',
      here: 'to one response, including retries',
      why: 'the caller does not care how many calls it took',
    },
    {
      of: ['S0.29'],
      asked: 'COBBLER_AGENT_API_KEY is a key for any provider',
      here: 'it is sent only to the configured provider',
      why: 'no service ever receives the key of another',
    },
    {
      of: ['S0'],
      asked: 'OpenAI is not a goal',
      here: 'a complete provider',
      why: 'requested later',
    },
  ],
};

/** @type {import('./table.mjs').Table} */
export const agent = {
  id: 'S0',
  title: 'agent interface and executor',
  entries: {
    'S0.1': {
      asks: 'one request gives one answer; the loop is the caller’s',
      in: ['packages/agent/src/interfaces/agent.ts', 'packages/agent/src/loop/executor.ts'],
    },
    'S0.2': {
      asks: 'a request carries conversation, tools and settings of its own',
      in: ['packages/agent/src/interfaces/agent.ts', 'packages/agent/src/provider/request/request-body.ts'],
    },
    'S0.3': {
      asks: 'most tokens: the request’s own; 0 is the agent’s default',
      in: ['packages/agent/src/provider/request-defaults.ts'],
    },
    'S0.4': {
      asks: 'temperature: the request’s own; -1 is the agent’s default',
      in: ['packages/agent/src/provider/request-defaults.ts'],
    },
    'S0.5': {
      asks: 'a tool is name, description, JSON Schema and a function',
      in: ['packages/agent/src/interfaces/tool.ts', 'packages/agent/src/interfaces/standard-schema.ts'],
    },
    'S0.6': {
      asks: 'a response keeps text, calls, usage and stop reason apart',
      in: ['packages/agent/src/interfaces/agent.ts', 'packages/agent/src/provider/response/assembler.ts'],
    },
    'S0.7': {
      asks: 'a call has an id, a tool’s name and arguments',
      in: [
        'packages/agent/src/interfaces/agent.ts',
        'packages/agent/src/provider/response/call-arguments.ts',
      ],
    },
    'S0.8': {
      asks: 'tokens are those the provider reports, never an estimate',
      in: ['packages/agent/src/values/usage.ts', 'packages/agent/src/provider/response/usage-count.ts'],
    },
    'S0.9': {
      asks: 'the stop reasons are complete, tool_use and max_tokens',
      in: ['packages/agent/src/interfaces/agent.ts'],
    },
    'S0.10': {
      asks: 'with calls the loop goes on, without it is over',
      in: ['packages/agent/src/loop/decide.ts'],
    },
    'S0.11': {
      asks: 'the model is asked first, and when results are there',
      in: ['packages/agent/src/loop/decide.ts', 'packages/agent/src/loop/request-model.ts'],
    },
    'S0.12': {
      asks: 'every call is executed and every result collected',
      in: ['packages/agent/src/loop/call-tools.ts', 'packages/agent/src/loop/tool-run.ts'],
    },
    'S0.13': {
      asks: 'a complete answer without calls is the final one',
      in: ['packages/agent/src/loop/decide.ts', 'packages/agent/src/loop/result.ts'],
    },
    'S0.14': {
      asks: 'a request that fails reaches the caller as its error',
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
      asks: 'requests and answers are translated to and from Anthropic’s API',
      in: ['packages/provider-claude/src/envelope.ts', 'packages/provider-claude/src/turn.ts'],
    },
    'S0.19': {
      asks: 'answers stream inside and are given whole',
      in: ['packages/provider-claude/src/stream-event.ts', 'packages/agent/src/provider/exchange.ts'],
    },
    'S0.20': {
      asks: '5xx and 429 are tried again, later each time; a cancel ends the wait',
      in: ['packages/agent/src/values/backoff.ts', 'packages/agent/src/provider/model-call.ts'],
    },
    'S0.21': {
      asks: 'nothing of the provider’s inside is exported',
      in: ['packages/provider-claude/src/index.ts'],
    },
    'S0.22': {
      asks: 'everything asynchronous takes a signal and obeys it at once',
      in: ['packages/agent/src/provider/http/abort.ts', 'packages/agent/src/values/lazy-abort-signal.ts'],
    },
    'S0.23': {
      asks: 'the executor makes the deadline and passes it, and aborts, down',
      in: ['packages/agent/src/loop/stopwatch.ts', 'packages/agent/src/loop/executor.ts'],
    },
    'S0.24': {
      asks: 'metrics add tokens and invocations up after each answer',
      in: ['packages/agent/src/interfaces/metrics.ts'],
    },
    'S0.25': {
      asks: 'an error has kind, message and a cause within reach',
      in: ['packages/agent/src/values/errors.ts'],
    },
    'S0.26': {
      asks: 'six kinds of error, each with its meaning',
      in: ['packages/agent/src/values/errors.ts'],
    },
    'S0.27': {
      asks: 'the kind decides: try again, skip, or give up',
      in: ['packages/agent/src/values/backoff.ts', 'packages/agent/src/loop/call-tools.ts'],
    },
    'S0.28': {
      asks: 'configuration: provider, model, tokens, temperature, time, key',
      in: ['packages/agent/src/interfaces/config.ts', 'packages/provider-claude/src/create-claude.ts'],
    },
    'S0.29': {
      asks: 'no key: COBBLER_AGENT_API_KEY, then ANTHROPIC_API_KEY',
      in: ['packages/agent/src/interfaces/config.ts', 'packages/provider-claude/src/endpoint.ts'],
    },
    'S0.30': {
      asks: 'settings are read from ~/.cobbler/config.yaml',
      in: ['packages/agent/src/node/config-file.ts', 'packages/agent/src/node/config-text.ts'],
    },
    'S0.31': {
      asks: 'two requests share nothing; a history lives for one task',
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
      seed: '`Request`, `Response`',
      here: '`ModelRequest`, `ModelResponse`',
      why: 'the web’s own `Request` and `Response` are in use all around',
    },
    {
      of: ['S0.4'],
      seed: 'a temperature for Claude',
      here: 'refused as `invalid` before a byte is sent, for every model that takes none',
      why: 'the API of Claude has no such field any more, and what is asked for is never dropped unsaid',
    },
    {
      of: ['S0.9'],
      seed: 'three stop reasons',
      here: 'seven, and limits and cancellation are statuses of the run',
      why: 'an unknown or filtered ending must not pass for `complete`',
    },
    {
      of: ['S0.10'],
      seed: 'no maximum of turns',
      here: '10 in the library, 100 on the command line',
      why: 'no default is infinite',
    },
    {
      of: ['S0.14'],
      seed: 'the error reaches the caller',
      here: 'as `result.error`; `result.unwrap()` throws it',
      why: 'every outcome carries the conversation and the usage so far, which an exception would lose',
    },
    {
      of: ['S0.15'],
      seed: 'whatever ends the context is a timeout',
      here: 'a deadline is one; a cancel is `cancelled`, kind `aborted`',
      why: 'who cancels is told that it worked, not that something was too slow',
    },
    {
      of: ['S0.17'],
      seed: 'flat messages',
      here: 'content parts; `toFlat` and `fromFlat` convert',
      why: 'reasoning, pictures and sealed parts have no place in flat text',
    },
    {
      of: ['S0.20', 'S0.27'],
      seed: 'retries in the Claude package, chosen by the executor',
      here: 'in the kit, for every provider',
      why: 'one layer retries, the same way everywhere',
    },
    {
      of: ['S0.25'],
      seed: 'the cause is the error itself',
      here: 'its name, message and code',
      why: 'errors are stored and sent: what is in them must be data, and hold no stack and no key',
    },
    {
      of: ['S0.26'],
      seed: 'six kinds of error',
      here: 'nine: `auth`, `aborted` and `limit` too',
      why: 'callers treat a refused key, a cancel and a limit differently from a bad request',
    },
    {
      of: ['S0.28'],
      seed: '`requestTimeout` is for one call of the API',
      here: 'for one answer, retries included',
      why: 'who waits does not care how many calls it took',
    },
    {
      of: ['S0.29'],
      seed: 'COBBLER_AGENT_API_KEY is anybody’s key',
      here: 'it goes to the provider of the configuration and to no other',
      why: 'no service is ever sent the key of another',
    },
    {
      of: ['S0'],
      seed: 'OpenAI is no goal',
      here: 'a whole provider',
      why: 'asked for since',
    },
  ],
};

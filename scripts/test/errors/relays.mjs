// Locations that raise an error whose code cannot be determined there, each with the reason and the
// possible codes.

const limits = {
  turns: ['limit'],
  toolCalls: ['limit'],
  tokens: ['limit'],
  usd: ['limit'],
  no_progress: ['limit'],
};

/** The results of `serviceCode` by kind. Codes of a service itself are passed on unchanged. */
const services = {
  key_refused: ['auth'],
  rate_limited: ['rate_limit'],
  service_failed: ['agent'],
  request_refused: ['invalid'],
  not_served: ['invalid'],
};

/**
 * @typedef {object} Relay
 * @property {string} file
 * @property {string} says part of the expression that is unique in the file
 * @property {string} why
 * @property {Readonly<Record<string, readonly (string | number)[]>>} [raises] codes with the kinds of each, or its
 * HTTP statuses; absent where errors are only passed on
 */
/** @type {readonly Relay[]} */
export const relays = [
  {
    file: 'packages/agent/src/values/errors.ts',
    says: 'message: cause.message, cause',
    why: 'a third-party error has no Cobbler code; its own code stays in `cause`',
  },
  {
    file: 'packages/agent/src/runner/attempts.ts',
    says: 'code.slice(0, 100)',
    why: 'an error that is too large for a journal keeps its code',
  },
  {
    file: 'apps/server/src/requests/problem.ts',
    says: 'new Problem(status, code, detail, { ...retry, extra })',
    why: 'an error of a run keeps its code when it is sent to a client',
  },
  {
    file: 'apps/server/src/http/http-listener.ts',
    says: 'new Problem(status, code, detail)',
    why: 'a table maps the errors of the HTTP parser to codes',
    raises: { slow: [408], headers_too_large: [431], bad_request: [400] },
  },
  {
    file: 'packages/agent/src/values/input.ts',
    says: 'returned.includes(code)',
    why: 'the code is an argument of `read` or `coded`',
    raises: {
      bad_option: ['invalid'],
      bad_prompt: ['invalid'],
      bad_decision: ['invalid'],
      bad_tool: ['invalid'],
      tool_name: ['invalid'],
      tool_schema: ['invalid'],
      hook_failed: ['invalid'],
      bad_answer: ['agent'],
      store: ['agent'],
    },
  },
  {
    file: 'packages/agent/src/loop/ending-error.ts',
    says: 'code: limit, message',
    why: 'the name of the limit is the code',
    raises: limits,
  },
  {
    file: 'packages/agent/src/interfaces/limits.ts',
    says: "kind: 'limit', code, message",
    why: 'the name of the limit is the code',
    raises: limits,
  },
  {
    file: 'packages/agent/src/run/run.ts',
    says: 'code: status',
    why: 'the status is the code, for statuses without an error',
    raises: { max_tokens: ['agent'], refusal: ['agent'], waiting: ['agent'] },
  },
  {
    file: 'packages/agent/src/provider/http/timeouts.ts',
    says: 'code: name',
    why: 'the name of the deadline is the code',
    raises: { head: ['timeout'], stall: ['timeout'], progress: ['timeout'], total: ['timeout'] },
  },
  {
    file: 'packages/agent/src/provider/response/fault.ts',
    says: 'gave no reason.',
    why: '`serviceCode` returns a code for each kind',
    raises: {
      ...services,
      context_full: ['invalid'],
      garbled: ['network'],
      service_timeout: ['timeout'],
      service_limit: ['limit'],
    },
  },
  {
    file: 'packages/agent/src/remote/api-link.ts',
    says: "typeof code === 'string'",
    why: 'the code of the server that responded',
    raises: { foreign_answer: ['auth', 'agent', 'invalid'] },
  },
  {
    file: 'packages/assistant/src/memory/http-embedder.ts',
    says: 'serviceCode(kind, status)',
    why: '`serviceCode` returns a code for each kind',
    raises: services,
  },
];

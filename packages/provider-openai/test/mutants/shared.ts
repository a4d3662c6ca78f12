import type { Mutant } from './mutant.ts';

/** Mutants of the code that both wires share. */
export const sharedMutants: readonly Mutant[] = [
  {
    file: 'src/usage.ts',
    find: "cacheReadTokens: count(input['cached_tokens']),\n    cacheWriteTokens: count(input['cache_write_tokens']),",
    replace:
      "cacheWriteTokens: count(input['cached_tokens']),\n    cacheReadTokens: count(input['cache_write_tokens']),",
    why: 'cache reads and cache writes are swapped',
    breaks: ['S0.8'],
    by: 'openai responses: usage',
  },
  {
    file: 'src/usage.ts',
    find: "reasoningTokens: count(output['reasoning_tokens']),",
    replace: '',
    why: 'reasoning tokens are not reported',
    breaks: ['S0.8'],
    by: 'openai responses: usage',
  },
  {
    file: 'src/media.ts',
    find: '`data:${mediaType};base64,${data}`',
    replace: '`data:image/png;base64,${data}`',
    why: 'every file is declared as an image',
    breaks: [],
    by: 'openai responses: capabilities',
  },
  {
    file: 'src/fault.ts',
    find: "['server_is_overloaded', 'busy'],",
    replace: "['server_is_overloaded', 'invalid'],",
    why: 'an overload inside a stream is not retried',
    breaks: ['P5'],
    by: 'openai responses: faults',
  },
  {
    file: 'src/endpoint.ts',
    find: "if (address.apiKey === undefined) delete headers['authorization'];",
    replace: "delete headers['authorization'];",
    why: 'requests are sent without the key',
    breaks: [],
    by: 'openai responses: request',
  },
  {
    file: 'src/wire.ts',
    find: "requestIdHeader: 'x-request-id'",
    replace: "requestIdHeader: 'request-id'",
    why: 'the request id is read from the wrong header',
    breaks: [],
    by: 'openai responses: answers',
  },
];

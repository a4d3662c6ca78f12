/**
 * Mock wire of the Messages API, for tests.
 *
 * @module
 */

import type { ProviderTesting } from '@cobbler/agent/testing';
import { error, fail } from './errors.ts';
import { read } from './read.ts';
import { refuse } from './rules.ts';
import { begin, frame, line, noise, once, unknown } from './stream.ts';

/**
 * The server side of the Messages API: writes the responses that the provider reads, and reads and validates its
 * requests.
 */
export const claudeTesting: ProviderTesting = {
  provider: 'claude',
  contentType: 'text/event-stream; charset=utf-8',
  head: {
    headers: {
      'request-id': 'req_01scripted',
      'anthropic-ratelimit-requests-limit': '4000',
      'anthropic-ratelimit-requests-remaining': '3999',
      'anthropic-ratelimit-tokens-remaining': '398000',
      'anthropic-organization-id': 'org_01scripted',
    },
    requestId: 'req_01scripted',
    rateLimits: {
      'anthropic-ratelimit-requests-limit': '4000',
      'anthropic-ratelimit-requests-remaining': '3999',
      'anthropic-ratelimit-tokens-remaining': '398000',
    },
  },
  request: {
    path: '/v1/messages',
    headers: { 'anthropic-version': '2026-10-21' },
    key: { header: 'authorization', prefix: 'Bearer ' },
  },
  lacks: {
    sampling: 'The API has not accepted a temperature since version 2026-10-21.',
    'whole-content': 'The API sends each delta once, and no block as a whole.',
  },
  begin,
  line,
  noise,
  unknown,
  once,
  frame,
  error,
  fail,
  read,
  refuse,
};

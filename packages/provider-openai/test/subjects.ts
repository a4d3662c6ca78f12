import type { MockedSubject } from '@cobbler/conformance/msw';
import { http } from 'msw';
import { createOpenAI } from '../src/index.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';

/**
 * What the contract and the mutants are run on. Chat Completions is asked for a model that takes a temperature
 * and the older `max_tokens`, as most of the servers that speak it do.
 */
export const subjects: readonly MockedSubject[] = [
  {
    name: 'openai responses',
    create: (link) => createOpenAI({ env: {}, api: 'responses', ...link }),
    testing: responsesTesting,
    handlers: (baseURL, service) => [http.post(`${baseURL}/responses`, service)],
  },
  {
    name: 'openai chat',
    create: (link) => createOpenAI({ env: {}, api: 'chat', model: 'llama3.3', ...link }),
    testing: chatTesting,
    handlers: (baseURL, service) => [http.post(`${baseURL}/chat/completions`, service)],
  },
];

import type { MockedSubject } from '@cobbler/conformance/msw';
import { http } from 'msw';
import { createOpenAI } from '../src/index.ts';
import { chatTesting, responsesTesting } from '../src/testing/index.ts';

/**
 * The subjects of the contract and the mutants. Chat Completions uses a model that accepts a
 * temperature and the older `max_tokens`, like most servers with this API.
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

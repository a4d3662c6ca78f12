import type { MockedSubject } from '@cobbler/conformance/msw';
import { http } from 'msw';
import { createGemini } from '../src/index.ts';
import { geminiTesting } from '../src/testing/index.ts';

/** The subjects of the contract, here and in `npm run verify -- contract`: one for each wire of the service. */
export const subjects: readonly MockedSubject[] = [
  {
    name: 'gemini',
    create: (link) => createGemini({ env: {}, model: 'gemini-3.8-flash', ...link }),
    testing: geminiTesting,
    // The mock service as msw handlers: the path is that of `endpoint.url` in src/wire.ts.
    handlers: (baseURL, service) => [http.post(`${baseURL}/v1beta/models/*`, service)],
  },
];

import type { MockedSubject } from '@cobbler/conformance/msw';
import { http } from 'msw';
import { createYourOwn } from '../src/index.ts';
import { yourOwnTesting } from '../src/testing/index.ts';

/** The subjects of the contract, here and in `npm run verify -- contract`: one for each wire of the service. */
export const subjects: readonly MockedSubject[] = [
  {
    name: 'your-own',
    create: createYourOwn,
    testing: yourOwnTesting,
    // The mock service as msw handlers: the path is that of `endpoint.url` in src/wire.ts.
    handlers: (baseURL, service) => [http.post(`${baseURL}/v1/answer`, service)],
  },
];

import type { MockedSubject } from '@cobbler/conformance/msw';
import { http } from 'msw';
import { createClaude } from '../src/index.ts';
import { claudeTesting } from '../src/testing/index.ts';

/** The subjects of the contract and the mutants. */
export const subjects: readonly MockedSubject[] = [
  {
    name: 'claude',
    create: (link) => createClaude({ env: {}, ...link }),
    testing: claudeTesting,
    handlers: (baseURL, service) => [http.post(`${baseURL}/v1/messages`, service)],
  },
];

import { describeContract } from '@cobbler/conformance';
import { batchCases } from '@cobbler/conformance/msw';
import { describe, it } from 'vitest';
import { batchSubject } from './batch-service.ts';

const parsed = 'the service has parsed the arguments of the calls in a result';
const own = Object.fromEntries(
  [
    'that are not JSON',
    'that end early',
    'followed by more text',
    'with a trailing comma',
    'that are null',
  ].map((what) => [`calls: rejects only the call with arguments ${what} [P9]`, parsed]),
);

describe('agentContract, claude batch', () => {
  const cases = batchCases(batchSubject, {
    ...own,
    'calls: rejects only the call with arguments nested deep enough to overflow a stack [P9, P11]': parsed,
    'blocks: a call whose arguments are sent twice never runs [P9]': parsed,
  });
  describeContract(cases, { describe, it });
});

import { describeContract } from '@cobbler/conformance';
import { batchCases } from '@cobbler/conformance/msw';
import { describe, it } from 'vitest';
import { batchSubjects } from './batch-service.ts';

const parsed = 'a result contains finished texts and calls, not their deltas';

for (const subject of batchSubjects)
  describe(`agentContract, ${subject.name}`, () => {
    const cases = batchCases(subject, {
      'wholes: a text whose deltas differ from the complete text sent after them is an error [P1]': parsed,
      'wholes: a call whose deltas differ from the complete call sent after them never runs [P9]': parsed,
      'blocks: data after the end of a call is not part of the response, or an error': parsed,
      'blocks: a second response after the first is an error or not part of it, and its usage is not added [P14]':
        parsed,
    });
    describeContract(cases, { describe, it });
  });

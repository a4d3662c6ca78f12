import { describeContract, harnessContract } from '@cobbler/conformance';
import { describe, it } from 'vitest';
import { delegatedSubjects } from './subjects.ts';

describe.each(delegatedSubjects())('a harness over $name', (subject) =>
  describeContract(harnessContract(subject), { describe, it }),
);

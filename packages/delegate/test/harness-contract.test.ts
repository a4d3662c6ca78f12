import { describeContract, harnessContract } from '@cobbler/agent/testing';
import { describe, it } from 'vitest';
import { delegatedSubjects } from './subjects.ts';

describe.each(delegatedSubjects())('a harness over $name', (subject) =>
  describeContract(harnessContract(subject), { describe, it }),
);

import { describeContract, harnessContract } from '@cobbler/conformance';
import { describe, it } from 'vitest';
import { delegatedSubjects } from './subjects.ts';

const endurance = 'thirty prompts in sequence work [P18]';

/** harness-contract.slow.test.ts runs all cases over all backends. */
describe.each(delegatedSubjects().slice(-1))('a harness over $name', (subject) =>
  describeContract(
    harnessContract(subject).filter(({ name }) => name !== endurance),
    { describe, it },
  ),
);

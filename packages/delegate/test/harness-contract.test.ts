import { harnessContract } from '@cobbler/agent/testing';
import { describe, it } from 'vitest';
import { delegatedSubjects } from './subjects.ts';

describe.each(delegatedSubjects())('a harness over $name', (subject) => {
  for (const { group, name, off, run } of harnessContract(subject)) {
    if (off === undefined) it(`${group}: ${name}`, run);
    else it(`${group}: ${name}`, ({ skip }) => skip(off));
  }
});

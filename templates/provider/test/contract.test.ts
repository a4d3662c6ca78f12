import { agentContract, runContract } from '@cobbler/agent/testing';
import { describe, test } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects) {
  // Until the first plain answer comes, no case needs much time to find out that none does.
  const { failures } = await runContract(agentContract(subject).slice(0, 2));
  const slack = failures.length === 0 ? 1 : 0.02;
  describe(`agentContract, ${subject.name}`, () => {
    for (const { group, name, off, run } of agentContract({ ...subject, slack }))
      test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
  });
}

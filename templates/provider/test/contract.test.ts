import { agentContract, runContract } from '@cobbler/conformance';
import { describe, test } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects) {
  // Until all parts are written, no case needs much time to find out that no answer comes.
  const { failures } = await runContract(agentContract(subject).slice(0, 2));
  const slack = failures.some(({ message }) => message.includes('src/')) ? 0.02 : 1;
  describe(`agentContract, ${subject.name}`, () => {
    for (const { group, name, off, run } of agentContract({ ...subject, slack }))
      test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
  });
}

import { agentContract, runContract } from '@cobbler/agent/testing';
import { describe, test } from 'vitest';
import { createYourOwn } from '../src/index.ts';
import { yourOwnTesting } from '../src/testing/index.ts';

const within = (slack: number) =>
  agentContract({ name: 'your-own', create: createYourOwn, testing: yourOwnTesting, slack });

// Until the first plain answer comes, no case needs much time to find out that none does.
const { failures } = await runContract(within(1).slice(0, 2));

describe('agentContract, Your Own', () => {
  for (const { group, name, off, run } of within(failures.length === 0 ? 1 : 0.02))
    test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
});

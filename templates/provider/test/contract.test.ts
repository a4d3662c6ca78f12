import { agentContract } from '@cobbler/agent/testing';
import { describe, test } from 'vitest';
import { createYourOwn } from '../src/index.ts';
import { yourOwnTesting } from '../src/testing/index.ts';

describe('agentContract, Your Own', () => {
  const subject = { name: 'your-own', create: createYourOwn, testing: yourOwnTesting };
  for (const { group, name, off, run } of agentContract(subject))
    test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
});

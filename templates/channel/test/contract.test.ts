import { channelContract } from '@cobbler/assistant/testing';
import { describe, test } from 'vitest';
import { subject } from './subject.ts';

describe('channelContract, Your Own', () => {
  for (const { group, name, off, run } of channelContract(subject))
    test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
});

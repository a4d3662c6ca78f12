import { channelContract } from '@cobbler/assistant/testing';
import { describe, test } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects)
  describe(`channelContract, ${subject.name}`, () => {
    for (const { group, name, off, run } of channelContract(subject))
      test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
  });

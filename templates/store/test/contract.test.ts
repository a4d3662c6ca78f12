import { storeContract } from '@cobbler/conformance';
import { describe, test } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects)
  describe(`storeContract, ${subject.name}`, () => {
    for (const { group, name, off, run } of storeContract(subject))
      test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
  });

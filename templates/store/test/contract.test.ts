import { storeContract } from '@cobbler/agent/testing';
import { describe, test } from 'vitest';
import { yourOwnStore } from '../src/index.ts';

let places = 0;

describe('storeContract, Your Own', () => {
  const cases = storeContract({
    name: 'your-own',
    // Each case has a place of its own. `open` is called again where a case closes the store and comes back.
    place(now) {
      const url = `your-own://127.0.0.1/${places++}`;
      return { open: () => yourOwnStore({ url, now }) };
    },
  });
  for (const { group, name, off, run } of cases)
    test(`${group}: ${name}`, ({ skip }) => (off === undefined ? run() : skip(off)));
});

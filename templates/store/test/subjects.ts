import type { StoreSubject } from '@cobbler/conformance';
import { yourOwnStore } from '../src/index.ts';

let places = 0;

/** What the contract is run on, here and by `npm run verify -- contract`. */
export const subjects: readonly StoreSubject[] = [
  {
    name: 'your-own',
    // Each case has a place of its own. `open` is called again where a case closes the store and comes back.
    place(now) {
      const url = `your-own://127.0.0.1/${places++}`;
      return { open: () => yourOwnStore({ url, now }) };
    },
  },
];

import type { StoreSubject } from '@cobbler/conformance';
import { yourOwnStore } from '../src/index.ts';

let places = 0;

/** The subjects of the contract, here and in `npm run verify -- contract`. */
export const subjects: readonly StoreSubject[] = [
  {
    name: 'your-own',
    // Remove a line when the store has these methods. Without `costs`, `readCosts` reads every event.
    noCosts: 'the store does not keep costs yet',
    noMail: 'the store passes on no messages to runs yet',
    noSearch: 'the store has no full-text search yet',
    // Each case has a separate place. `open` is called again when a case closes and reopens the store.
    place(now) {
      const url = `your-own://127.0.0.1/${places++}`;
      return { open: () => yourOwnStore({ url, now }) };
    },
  },
];

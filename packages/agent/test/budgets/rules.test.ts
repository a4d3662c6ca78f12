import { testSequences } from './sequences.ts';

// rules.slow.test.ts plays more.
testSequences(50);

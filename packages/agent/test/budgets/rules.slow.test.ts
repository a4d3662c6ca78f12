import { testSequences } from './sequences.ts';

testSequences(250);

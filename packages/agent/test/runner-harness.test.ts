import { describe } from 'vitest';
import { harnessContract } from '../src/testing/index.ts';
import { contractSuite } from './contract-suite.ts';
import { onRunner } from './runner-harness-subject.ts';

describe('a harness over a runner', () => {
  contractSuite(harnessContract(onRunner));
});

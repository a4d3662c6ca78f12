import { describe, it } from 'vitest';
import { describeContract, harnessContract } from '../src/testing/index.ts';
import { local } from './local-harness-subject.ts';

describe('a harness over the local loop', () => {
  describeContract(harnessContract(local), { describe, it });
});

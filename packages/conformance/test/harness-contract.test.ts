import { describe, it } from 'vitest';
import { harnessContract } from '../src/harness/harness-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { local } from './local-harness-subject.ts';

describe('a harness with the local loop', () => {
  describeContract(harnessContract(local), { describe, it });
});

import { describe, it } from 'vitest';
import { agentContract, describeContract } from '../src/testing/index.ts';
import { scripted } from './subjects.ts';

describe('the contract over the scripted wire', () => {
  describeContract(agentContract(scripted), { describe, it });
});

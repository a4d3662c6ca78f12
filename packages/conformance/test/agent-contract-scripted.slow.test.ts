import { describe, it } from 'vitest';
import { agentContract } from '../src/agent/agent-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { scripted } from './subjects.ts';

describe('the contract over the scripted wire', () => {
  describeContract(agentContract(scripted), { describe, it });
});

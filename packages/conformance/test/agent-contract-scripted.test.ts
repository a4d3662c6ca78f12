import { describe, it } from 'vitest';
import { agentContract } from '../src/agent/agent-contract.ts';
import { describeContract } from '../src/report/describe-contract.ts';
import { scripted } from './subjects.ts';

/** agent-contract-scripted.slow.test.ts tests more random responses and histories. */
describe('the contract over the scripted wire', () => {
  describeContract(agentContract(scripted, { seeds: { count: 3 } }), { describe, it });
});

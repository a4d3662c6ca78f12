import { describe, it } from 'vitest';
import { createAgent } from '../src/provider/index.ts';
import type { ContractSubject } from '../src/testing/index.ts';
import {
  agentContract,
  describeContract,
  scriptCapabilities,
  scriptTesting,
  scriptWire,
} from '../src/testing/index.ts';

const subject: ContractSubject = {
  name: 'scripted',
  create: ({ baseURL, apiKey, ...options }) =>
    createAgent(scriptWire({ baseURL, apiKey }), {
      model: 'scripted-model',
      capabilities: scriptCapabilities,
      ...options,
    }),
  testing: scriptTesting,
};

describe('the contract over the scripted wire', () => {
  describeContract(agentContract(subject), { describe, it });
});

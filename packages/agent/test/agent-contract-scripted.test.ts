import { describe } from 'vitest';
import { createAgent } from '../src/provider/index.ts';
import type { ContractSubject } from '../src/testing/index.ts';
import { agentContract, scriptCapabilities, scriptTesting, scriptWire } from '../src/testing/index.ts';
import { contractSuite } from './contract-suite.ts';

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
  contractSuite(agentContract(subject));
});

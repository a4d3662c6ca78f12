import { putUnderContract } from './under-contract.ts';

putUnderContract('ai-sdk anthropic');

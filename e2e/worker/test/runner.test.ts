import { runnerContract } from '@cobbler/agent/testing';
import { afterAll, beforeAll, describe } from 'vitest';
import { contractSuite } from '../../../packages/assistant/test/contract-suite.ts';
import { RunnerStage, workflowsStand } from '../src/runner-stand.ts';

const stage = new RunnerStage();
beforeAll(() => stage.begin());
afterAll(() => stage.end());

describe('the runner on Workflows', () => contractSuite(runnerContract(workflowsStand(stage))));

import { describeContract, runnerContract } from '@cobbler/conformance';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { RunnerStage, workflowsStand } from '../src/runner-stand.ts';

const stage = new RunnerStage();
beforeAll(() => stage.begin());
afterAll(() => stage.end());

describe('the runner on Workflows', () =>
  describeContract(runnerContract(workflowsStand(stage)), { describe, it }));

import { describeContract, runnerContract } from '@cobbler/conformance';
import { afterAll, describe, it } from 'vitest';
import { announce, describeWith } from './missing.ts';
import { postgresRunnerOnDemand } from './runner-stand.ts';

const { missing, subject, stop } = postgresRunnerOnDemand();
announce('the runner contract on PostgreSQL', missing);

afterAll(stop);

describeWith(missing, 'the PostgreSQL runner', () =>
  describeContract(runnerContract(subject), { describe, it }),
);

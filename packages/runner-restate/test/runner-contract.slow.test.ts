import { describeContract, runnerContract } from '@cobbler/conformance';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { announce, describeWith } from './missing.ts';
import type { RestateCluster } from './restate-server.ts';
import { missingRestate, startRestate } from './restate-server.ts';
import { restateStand } from './restate-stand.ts';

const missing = missingRestate();
announce('the runner contract on Restate', missing);

let cluster: RestateCluster;

beforeAll(async () => {
  if (missing === undefined) cluster = await startRestate();
}, 120_000);

afterAll(() => cluster?.stop());

describeWith(missing, 'the Restate runner', () =>
  describeContract(runnerContract(restateStand(() => cluster)), { describe, it }),
);

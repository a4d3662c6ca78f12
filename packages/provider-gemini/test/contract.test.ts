import { describeWays, quickWayCases } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

/** Runs a selection of the contract; contract.slow.test.ts runs all of it over both networks. */
for (const subject of subjects)
  describeWays(
    subject,
    { describe, it, afterAll },
    { select: quickWayCases, seeds: { count: 1 }, print: console.log },
  );

import { describeWays, quickWayCases } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

/** The whole contract for all models and both ways is in contract-*.slow.test.ts. */
for (const subject of subjects.slice(0, 1))
  describeWays(
    subject,
    { describe, it, afterAll },
    { select: quickWayCases, seeds: { count: 2 }, print: console.log },
  );

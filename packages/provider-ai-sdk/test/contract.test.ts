import { describeWays, quickWayCases } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

/** contract-*.slow.test.ts run the whole contract over all models and both ways. */
for (const subject of subjects.slice(0, 1))
  describeWays(
    subject,
    { describe, it, afterAll },
    { select: quickWayCases, seeds: { count: 2 }, print: console.log },
  );

import { describeWays, quickWayCases } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

/** contract.slow.test.ts runs the whole contract over both ways. */
for (const subject of subjects)
  describeWays(
    subject,
    { describe, it, afterAll },
    { select: quickWayCases, seeds: { count: 3 }, print: console.log },
  );

import { agentContract, firstSteps, runContract } from '@cobbler/conformance';
import { describeWays } from '@cobbler/conformance/msw';
import { afterAll, describe, it } from 'vitest';
import { subjects } from './subjects.ts';

for (const subject of subjects) {
  // While parts are missing, a few cases report what to write next. They have short timeouts.
  const probes = [...Map.groupBy(agentContract({ ...subject, slack: 0.02 }), ({ group }) => group).values()];
  const steps = firstSteps(
    (await runContract(probes.slice(0, 8).flatMap((cases) => cases.slice(0, 1)))).failures,
  );
  // Thrown here and not in a test, so that it is visible with every `-t` filter.
  if (steps.length > 0) throw new Error(steps.join('\n'));
  describeWays(subject, { describe, it, afterAll }, { print: console.log });
}

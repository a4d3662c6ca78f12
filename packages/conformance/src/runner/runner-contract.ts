import type { ContractCase } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { attemptCases } from './attempts.ts';
import { cancelCases } from './cancels.ts';
import type { RunnerCase } from './case.ts';
import { RunnerSetup } from './case.ts';
import { dueCases } from './due.ts';
import { endCases } from './ends.ts';
import type { RunnerEnvironment } from './environment.ts';
import { keyCases } from './keys.ts';
import { startCases } from './starts.ts';
import { stepCases } from './steps.ts';
import { waitCases } from './waits.ts';

const definitions: readonly RunnerCase[] = [
  ...startCases,
  ...stepCases,
  ...attemptCases,
  ...waitCases,
  ...cancelCases,
  ...keyCases,
  ...dueCases,
  ...endCases,
];

/**
 * Returns the cases that every runner must pass, for any test runner. The workflow is `contractWorkflow`, which
 * the environment gives to its runner. The input selects what the workflow does, and the workflow writes lines
 * with the counter of the environment. So it can run in any process and on any engine.
 */
export function runnerContract(environment: RunnerEnvironment): ContractCase[] {
  return definitions.map((definition, index) => bound(definition, index, environment));
}

function bound(
  { group, name, needs, run }: RunnerCase,
  index: number,
  environment: RunnerEnvironment,
): ContractCase {
  const off = needs.map((need) => environment.lacks[need]).find((reason) => reason !== undefined);
  return {
    group,
    name,
    ...defined({ off }),
    async run() {
      const place = await environment.place();
      try {
        const setup = new RunnerSetup(place, await place.open(), `c${index}`);
        try {
          await run(setup);
        } finally {
          await setup.runner.close();
        }
      } finally {
        await place.dispose();
      }
    },
  };
}

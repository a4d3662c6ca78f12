import type { ContractCase } from './contract-case.ts';
import { attemptCases } from './runner-contract/attempts.ts';
import { cancelCases } from './runner-contract/cancels.ts';
import type { RunnerCase } from './runner-contract/cases.ts';
import { RunnerStage } from './runner-contract/cases.ts';
import { endCases } from './runner-contract/ends.ts';
import { keyCases } from './runner-contract/keys.ts';
import type { RunnerStand } from './runner-contract/stand.ts';
import { startCases } from './runner-contract/starts.ts';
import { stepCases } from './runner-contract/steps.ts';
import { waitCases } from './runner-contract/waits.ts';

const definitions: readonly RunnerCase[] = [
  ...startCases,
  ...stepCases,
  ...attemptCases,
  ...waitCases,
  ...cancelCases,
  ...keyCases,
  ...endCases,
];

/**
 * What every runner has to do, as a list of cases that any test runner can run. The routines are those of
 * `contractRoutine`, which the stand gives its runner; they are told by the input what to do, and leave their traces
 * with the stand's counter, so that it does not matter in which process or on which engine they run.
 */
export function runnerContract(stand: RunnerStand): ContractCase[] {
  return definitions.map((definition, index) => bound(definition, index, stand));
}

function bound({ group, name, needs, run }: RunnerCase, index: number, stand: RunnerStand): ContractCase {
  const off = needs.map((need) => stand.lacks[need]).find((reason) => reason !== undefined);
  return {
    group,
    name,
    ...(off !== undefined && { off }),
    async run() {
      const place = await stand.place();
      try {
        const stage = new RunnerStage(place, await place.open(), `c${index}`);
        try {
          await run(stage);
        } finally {
          await stage.runner.close();
        }
      } finally {
        await place.dispose();
      }
    },
  };
}

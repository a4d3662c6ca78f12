import { askingMutants } from './mutants/asking.ts';
import { budgetMutants } from './mutants/budgets.ts';
import { composeMutants } from './mutants/compose.ts';
import { edgeMutants } from './mutants/edges.ts';
import { frameMutants } from './mutants/frames.ts';
import { historyMutants } from './mutants/history.ts';
import { hookMutants } from './mutants/hooks.ts';
import { keepingMutants } from './mutants/keeping.ts';
import { longWorkMutants } from './mutants/long-work.ts';
import { loopMutants } from './mutants/loop.ts';
import { moneyMutants } from './mutants/money.ts';
import type { Mutant } from './mutants/mutant.ts';
import { recordMutants } from './mutants/record.ts';
import { requirementMutants } from './mutants/requirements.ts';
import { runnerMutants } from './mutants/runner.ts';
import { streamMutants } from './mutants/stream.ts';
import { toolMutants } from './mutants/tools.ts';

/** The library's promises: `npm run verify -- mutants` fails unless a mutant breaks each one. */
export const promises: readonly string[] = [
  ...[
    'P1',
    'P2',
    'P3',
    'P4',
    'P5',
    'P6',
    'P7',
    'P8',
    'P9',
    'P10',
    'P11',
    'P12',
    'P13',
    'P14',
    'P18',
    'P19',
    'P21',
    'P31',
  ],
];

/** The package whose `test/checks.ts` lists the contract cases that these mutants name. */
export const casesIn = 'conformance';

/** Every mutant, for `npm run verify -- mutants packages/agent`. */
export const mutants: readonly Mutant[] = [
  ...askingMutants,
  ...streamMutants,
  ...frameMutants,
  ...historyMutants,
  ...hookMutants,
  ...loopMutants,
  ...toolMutants,
  ...moneyMutants,
  ...budgetMutants,
  ...composeMutants,
  ...recordMutants,
  ...keepingMutants,
  ...longWorkMutants,
  ...edgeMutants,
  ...runnerMutants,
  ...requirementMutants,
];

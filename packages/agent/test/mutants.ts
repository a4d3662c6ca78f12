import { askingMutants } from './mutants/asking.ts';
import { historyMutants } from './mutants/history.ts';
import { longWorkMutants } from './mutants/long-work.ts';
import { loopMutants } from './mutants/loop.ts';
import { moneyMutants } from './mutants/money.ts';
import type { Mutant } from './mutants/mutant.ts';
import { recordMutants } from './mutants/record.ts';
import { streamMutants } from './mutants/stream.ts';
import { toolMutants } from './mutants/tools.ts';

/** Every planted mistake, for `npm run mutants packages/agent`. */
export const mutants: readonly Mutant[] = [
  ...askingMutants,
  ...streamMutants,
  ...historyMutants,
  ...loopMutants,
  ...toolMutants,
  ...moneyMutants,
  ...recordMutants,
  ...longWorkMutants,
];

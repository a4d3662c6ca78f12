import { mcpMutants } from './mutants/mcp.ts';
import type { Mutant } from './mutants/mutant.ts';
import { protectedMutants } from './mutants/protected.ts';

/** All planted bugs, for `npm run verify -- mutants packages/tools`. */
export const mutants: readonly Mutant[] = [...mcpMutants, ...protectedMutants];

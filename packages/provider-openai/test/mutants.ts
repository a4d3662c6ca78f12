import { chatMutants } from './mutants/chat.ts';
import type { Mutant } from './mutants/mutant.ts';
import { responsesMutants } from './mutants/responses.ts';
import { sharedMutants } from './mutants/shared.ts';

/** Every mutant, for `npm run verify -- mutants packages/provider-openai`. */
export const mutants: readonly Mutant[] = [...responsesMutants, ...chatMutants, ...sharedMutants];

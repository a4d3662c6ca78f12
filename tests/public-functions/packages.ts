import { sampleTable as agent } from '../../packages/agent/test/sample-arguments.ts';
import type { SampleTable } from './table.ts';

/** The packages whose functions do not all reject invalid arguments yet. */
export const pending: readonly string[] = [
  'packages/agent',
  'packages/assistant',
  'packages/conformance',
  'packages/delegate',
  'packages/provider-ai-sdk',
  'packages/provider-claude',
  'packages/provider-openai',
  'packages/runner-restate',
  'packages/store-postgres',
  'packages/tools',
  'apps/server',
];

/** The table of each package. */
export const tables: Readonly<Record<string, SampleTable>> = {
  'packages/agent': agent,
};

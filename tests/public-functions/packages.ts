import { sampleTable as server } from '../../apps/server/test/sample-arguments.ts';
import { sampleTable as agent } from '../../packages/agent/test/support/sample-arguments.ts';
import { sampleTable as assistant } from '../../packages/assistant/test/sample-arguments.ts';
import { sampleTable as delegate } from '../../packages/delegate/test/sample-arguments.ts';
import { sampleTable as aiSdk } from '../../packages/provider-ai-sdk/test/sample-arguments.ts';
import { sampleTable as claude } from '../../packages/provider-claude/test/sample-arguments.ts';
import { sampleTable as gemini } from '../../packages/provider-gemini/test/sample-arguments.ts';
import { sampleTable as openAI } from '../../packages/provider-openai/test/sample-arguments.ts';
import { sampleTable as restate } from '../../packages/runner-restate/test/sample-arguments.ts';
import { sampleTable as postgres } from '../../packages/store-postgres/test/sample-arguments.ts';
import { sampleTable as tools } from '../../packages/tools/test/sample-arguments.ts';
import type { SampleTable } from './table.ts';

/** The packages whose functions do not all reject invalid arguments yet. */
export const pending: readonly string[] = ['packages/conformance'];

/** The table of each package. */
export const tables: Readonly<Record<string, SampleTable>> = {
  'packages/agent': agent,
  'packages/delegate': delegate,
  'packages/runner-restate': restate,
  'packages/store-postgres': postgres,
  'packages/tools': tools,
  'packages/assistant': assistant,
  'apps/server': server,
  'packages/provider-ai-sdk': aiSdk,
  'packages/provider-claude': claude,
  'packages/provider-gemini': gemini,
  'packages/provider-openai': openAI,
};

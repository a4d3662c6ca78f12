import type { LoadedConfig } from '@cobbler/agent/node';
import { providerEntry } from './providers.ts';
import { UsageError } from './usage-error.ts';

/** There is no key: where it was looked for, how to give one, and what works without. */
export function noKey(provider: string, file: Pick<LoadedConfig, 'path'>, isConfigured: boolean): UsageError {
  const { title, keyVariable } = providerEntry(provider);
  const variables = isConfigured ? `${keyVariable} and COBBLER_AGENT_API_KEY are` : `${keyVariable} is`;
  const stored = file.path === undefined ? '' : `, and ${file.path} holds none`;
  return new UsageError(
    `There is no key for ${title}: ${variables} not set${stored}.`,
    `Set one:             export ${keyVariable}=...   or store it: cobbler config set-key ${provider}`,
    'See it work now:     cobbler demo   (no key needed)',
    'Use a local model:   cobbler -m openai:MODEL --base-url http://localhost:11434/v1 "..."',
  );
}

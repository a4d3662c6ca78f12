import { ownName } from '../terminal/program-name.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { providerEntry } from './providers.ts';
import type { Settings } from './settings.ts';

/** Returns the error for a missing key: where Cobbler looked for it, how to set one, and what works without. */
export function noKey(
  provider: string,
  { file, env }: Pick<Settings, 'file' | 'env'>,
  isConfigured: boolean,
): UsageError {
  const name = ownName(env);
  const { title, keyVariable } = providerEntry(provider);
  const variables = isConfigured ? `${keyVariable} and COBBLER_AGENT_API_KEY are` : `${keyVariable} is`;
  const stored = file.path === undefined ? '' : `, and ${file.path} has no key`;
  return new UsageError(
    `There is no key for ${title}: ${variables} not set${stored}.`,
    `Set one:             export ${keyVariable}=...   or store one: ${name} config set-key ${provider}`,
    `Try it now:          ${name} demo, or chat --demo, or serve --demo   (no key needed)`,
    `Use a local model:   ${name} -m openai:MODEL --base-url http://localhost:11434/v1 "..."`,
  );
}

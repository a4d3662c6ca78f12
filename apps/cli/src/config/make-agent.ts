import type { Agent } from '@cobbler/agent';
import { AgentError, resolveAgent } from '@cobbler/agent';
import type { FactoryConfig } from '@cobbler/agent/provider';
import { defaultProvider } from '@cobbler/agent/provider';
import { UsageError } from '../terminal/usage-error.ts';
import { checkModel } from './check-model.ts';
import { noKey } from './no-key.ts';
import type { Api, LoadedProvider } from './providers.ts';
import { providerEntry } from './providers.ts';
import type { Settings } from './settings.ts';

/**
 * Makes the agent that the settings name, and loads its provider for it. `link` wins over all settings.
 * @throws UsageError without a key or for a model that no provider has, AgentError `invalid` for anything else that cannot work.
 */
export async function makeAgent(
  settings: Settings,
  api?: Api,
  link: Partial<FactoryConfig> = {},
): Promise<{ agent: Agent; provider: LoadedProvider }> {
  await checkModel(settings);
  const name = settings.provider.value;
  if (api !== undefined && name !== 'openai') {
    throw new UsageError(
      `--api requires the provider openai; the provider is ${name}.`,
      'Use for example: -m openai:MODEL',
    );
  }
  const provider = await providerEntry(name).load(api);
  const { values } = settings.file;
  // A provider does not receive the options of the command line, least of all the keys of other providers.
  const { keys: _keys, prices: _prices, maxTurns: _turns, maxUsd: _usd, ...rest } = values;
  const {
    maxRepeats: _repeats,
    compactAbove: _compact,
    offloadAbove: _offload,
    keepSessions: _keep,
    ...config
  } = rest;
  try {
    const create = (full: FactoryConfig) => provider.create({ ...full, ...link });
    const agent = resolveAgent(config, { [name]: create }, settings.env, settings.chosen);
    return { agent, provider };
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'no_key') throw error;
    throw noKey(name, settings, name === (values.provider ?? defaultProvider));
  }
}

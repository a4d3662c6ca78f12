import type { Agent } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { resolveAgent } from '@cobbler/agent/config';
import type { FactoryConfig } from '@cobbler/agent/provider';
import { defaultProvider } from '@cobbler/agent/provider';
import { nearest } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { noKey } from './no-key.ts';
import type { Api, KnownModel, LoadedProvider } from './providers.ts';
import { providerEntry, providerNames, providers } from './providers.ts';
import type { Settings } from './settings.ts';

/**
 * Creates the agent that the settings name, and loads its provider for it. `link` overrides all settings.
 * @throws UsageError without a key or for an unknown model, AgentError `invalid` for any other configuration that
 * cannot work.
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
      'For example: -m openai:MODEL',
    );
  }
  const provider = await providerEntry(name).load(api);
  const { values } = settings.file;
  // A provider does not receive the options of the command line, and above all not the keys of other providers.
  const { keys: _keys, prices: _prices, maxTurns: _turns, maxUsd: _usd, ...rest } = values;
  const {
    maxRepeats: _repeats,
    compactAbove: _compact,
    offloadAbove: _offload,
    keepSessions: _keep,
    audit: _audit,
    askAtLimit: _ask,
    allowHosts: _hosts,
    fallback: _fallback,
    notify: _notify,
    theme: _theme,
    ...config
  } = rest;
  try {
    const create = (full: FactoryConfig) => provider.create(patient({ ...full, ...link }));
    const agent = resolveAgent(config, { [name]: create }, settings.env, settings.chosen);
    return { agent, provider };
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'no_key') throw error;
    throw noKey(name, settings, name === (values.provider ?? defaultProvider));
  }
}

/** The time for which providers retry on their own. */
export const usualRetryMs = 300_000;

/**
 * Returns the configuration with the other limits on retries adjusted to a long time for them. A recorded run has none, so
 * that older recordings need no other requests.
 */
function patient(config: FactoryConfig & { readonly transport?: unknown }): FactoryConfig {
  const { retryFor = 0, requestTimeout = usualRetryMs * 2, transport } = config;
  if (retryFor <= usualRetryMs || transport !== undefined) return config;
  const retry = { maxWaitMs: retryFor, maxMs: Math.max(30_000, retryFor / 60) };
  return { ...config, requestTimeout: requestTimeout + retryFor, ...{ retry } };
}

/** Names that stand for a model of each provider. */
const aliases = ['fast', 'balanced', 'best'];

/**
 * Checks that the provider knows the model. A user's own server accepts any name.
 * @throws UsageError with the name that was probably meant.
 */
async function checkModel({ model, provider, namesProvider, baseURL }: Settings): Promise<void> {
  const name = model.value;
  if (baseURL !== undefined || aliases.includes(name)) return;
  if (Object.values(providers).some(({ ownModels }) => ownModels.test(name))) return;
  const isNearAlias = nearest(name, aliases) !== undefined;
  if (namesProvider && !isNearAlias) return;
  const meant = nearest(name, [...aliases, ...(await knownModels())]);
  const prefix = /^([A-Za-z0-9_-]+)[:/]/.exec(name)?.[1];
  const guess = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const why = prefix === undefined ? '' : ` Unknown provider ${JSON.stringify(prefix)}.`;
  throw UsageError.withCode(
    'unknown_model',
    `The model ${JSON.stringify(name)} (${model.source}) is unknown.${why}${guess}`,
    `Providers: ${providerNames.join(', ')}. To list the models, run cobbler models; for a newer model, use the full name: -m ${provider.value}:MODEL`,
    `For a server with an OpenAI-compatible API: -m openai:MODEL --base-url URL`,
  );
}

/** Loads the known models for the error message only, because loading the providers takes time. */
async function knownModels(): Promise<string[]> {
  const loaded = await Promise.all(Object.values(providers).map(async ({ load }) => (await load()).models));
  return loaded.flat().map(({ id }: KnownModel) => id);
}

import type { Agent, Pricing } from '@cobbler/agent';
import type { FactoryConfig, RetryPolicy } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import { makeAgent } from './make-agent.ts';
import { pricingFor } from './prices.ts';
import type { LoadedProvider } from './providers.ts';
import type { RunFlags } from './run-flags.ts';
import type { Setting, Settings } from './settings.ts';
import { fromFile, readSettings } from './settings.ts';

/** An agent and the prices of its models. */
export interface PricedAgent {
  readonly agent: Agent;
  readonly pricing: Pricing;
  /** The provider of the first model. */
  readonly provider: LoadedProvider;
}

/** Limits the number of retries and not their time. */
export const threeRetries: Partial<FactoryConfig> & { readonly retry: Partial<RetryPolicy> } = {
  retry: { retries: 3 },
};

type ModelOptions = Pick<RunFlags, 'api' | 'retryFor' | 'effort' | 'search' | 'fallback'>;

/**
 * Creates the agent that the settings name, with the models of `--fallback` or the configuration after it.
 * @param link connects the agent to a cassette, which contains the requests of one model.
 * @throws UsageError and AgentError like {@link makeAgent}, for any of the models.
 */
export async function pricedAgent(
  settings: Settings,
  options: ModelOptions,
  link?: Partial<FactoryConfig>,
): Promise<PricedAgent> {
  const { retryFor, effort, search } = options;
  const models = fallbackModels(settings, options);
  if (models.length === 0 || link !== undefined) return await priced(settings, options, link ?? {});
  const others = await Promise.all(
    models.map(({ value: model, source: modelSource }) =>
      readSettings(settings.env, { model, modelSource, ...defined({ retryFor, effort, search }) }),
    ),
  );
  const last = others.length;
  const retryTime = retryFor ?? settings.file.values.retryFor;
  const few = retryTime === undefined ? threeRetries : { retryFor: retryTime };
  const all = await Promise.all(
    [settings, ...others].map((own, at) =>
      // While another model is left, minutes of retries would only delay it.
      priced(own, at === 0 ? options : {}, at < last ? few : {}),
    ),
  );
  const { provider } = all[0] as PricedAgent;
  // Most tasks have one model, and their start should not load this.
  const { fallback } = await import('@cobbler/agent/compose');
  return { agent: fallback(all.map(({ agent }) => agent)), pricing: pricingOf(all), provider };
}

function fallbackModels({ file }: Settings, { fallback: given }: ModelOptions): readonly Setting<string>[] {
  if (given.length > 0) return given.map((value) => ({ value, source: '--fallback' }));
  const { value = [], source = '' } = fromFile(file, file.values, 'fallback') ?? {};
  return value.map((name) => ({ value: name, source }));
}

async function priced(
  settings: Settings,
  { api }: Pick<RunFlags, 'api'>,
  link: Partial<FactoryConfig>,
): Promise<PricedAgent> {
  const { agent, provider } = await makeAgent(settings, api, link);
  const sources = {
    own: settings.file.values.prices ?? {},
    aliases: provider.models,
    tables: [provider.pricing],
    ...defined({ baseURL: settings.baseURL?.value }),
  };
  return { agent, provider, pricing: await pricingFor(sources, agent.provider, agent.model) };
}

/** Looks up each model in the prices of its own agent. */
function pricingOf(all: readonly PricedAgent[]): Pricing {
  return (provider, model, inputTokens) => {
    const own = all.filter(({ agent }) => agent.provider === provider);
    const found = own.find(({ agent }) => agent.model === model) ?? (own.length === 1 ? own[0] : undefined);
    return found?.pricing(provider, model, inputTokens);
  };
}

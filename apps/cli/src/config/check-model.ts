import { nearest } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { KnownModel } from './providers.ts';
import { providerNames, providers } from './providers.ts';
import type { Settings } from './settings.ts';

/** The names that stand for a model of each provider. */
const aliases = ['fast', 'balanced', 'best'];

/**
 * Checks that the model that is asked for can be one of its provider's. A server of one's own has names of its own.
 * @throws UsageError with the name that was probably meant.
 */
export async function checkModel({ model, provider, namesProvider, baseURL }: Settings): Promise<void> {
  const name = model.value;
  if (baseURL !== undefined || aliases.includes(name)) return;
  if (Object.values(providers).some(({ ownModels }) => ownModels.test(name))) return;
  const isNearAlias = nearest(name, aliases) !== undefined;
  if (namesProvider && !isNearAlias) return;
  const meant = nearest(name, [...aliases, ...(await knownModels())]);
  const prefix = /^([A-Za-z0-9_-]+)[:/]/.exec(name)?.[1];
  const guess = meant === undefined ? '' : ` Did you mean ${meant}?`;
  const why = prefix === undefined ? '' : ` Unknown provider ${JSON.stringify(prefix)}.`;
  throw UsageError.coded(
    'unknown_model',
    `The model ${JSON.stringify(name)} (${model.source}) is unknown.${why}${guess}`,
    `Models: cobbler models. Providers: ${providerNames.join(', ')}; for a newer model use the full name: -m ${provider.value}:MODEL`,
    `A server with an OpenAI-compatible API: -m openai:MODEL --base-url URL`,
  );
}

/** Only for the message: loading the providers takes a while. */
async function knownModels(): Promise<string[]> {
  const loaded = await Promise.all(Object.values(providers).map(async ({ load }) => (await load()).models));
  return loaded.flat().map(({ id }: KnownModel) => id);
}

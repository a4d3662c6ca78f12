import type { AgentConfig } from '@cobbler/agent';
import { parseModel } from '@cobbler/agent/config';
import type { FileConfig, LoadedConfig } from '@cobbler/agent/node';
import { loadConfig } from '@cobbler/agent/node';
import { cleanKey, defaultProvider } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { Environment } from '../terminal/io.ts';
import { nearest } from '../terminal/suggestion.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { keyVariableIn, providerEntry, providerNames, providers } from './providers.ts';

/** A value with its source, described for the user. */
export interface Setting<Value> {
  readonly value: Value;
  readonly source: string;
}

/** Model options of a command line. */
export interface ModelFlags
  extends Pick<AgentConfig, 'model' | 'baseURL' | 'retryFor' | 'effort' | 'search'> {
  /** The option that names the model, for messages. Default `-m`. */
  readonly modelSource?: string;
}

/** The settings of one invocation: flags over environment over file over defaults. */
export interface Settings {
  readonly file: LoadedConfig;
  readonly provider: Setting<string>;
  readonly model: Setting<string>;
  /** True if the provider was named with the model, or in the file; otherwise the model's name decides. */
  readonly namesProvider: boolean;
  /** Absent: the provider's own address. */
  readonly baseURL?: Setting<string>;
  /** The environment, with the keys of the configuration in the variables that providers read. */
  readonly env: Environment;
  /** The settings of this invocation for `resolveAgent`. */
  readonly chosen: AgentConfig;
}

const defaultModel = 'balanced';

/**
 * Reads the configuration and determines the model.
 * @throws AgentError `invalid` with code `config` for an invalid file, UsageError for an unknown provider.
 */
export async function readSettings(env: Environment, flags: ModelFlags = {}): Promise<Settings> {
  const file = await loadConfig({ env });
  const named = namedModel(env, flags);
  const parsed = named === undefined ? undefined : parseNamed(named.value);
  const provider = settleProvider({ file, env, named, parsed, flags });
  providerEntry(provider.value);
  const ofFile = provider.value === (file.values.provider ?? defaultProvider) ? file.values : {};
  const baseURL = settleAddress(ofFile, file, env, provider.value, flags);
  const model: Setting<string> = (parsed !== undefined && named !== undefined
    ? { value: parsed.model, source: named.source }
    : fromFile(file, ofFile, 'model')) ?? { value: defaultModel, source: 'default' };
  const chosen: AgentConfig = {
    provider: provider.value,
    ...defined({
      model: parsed?.model,
      baseURL: flags.baseURL,
      retryFor: flags.retryFor,
      effort: flags.effort,
      search: flags.search,
    }),
  };
  return {
    file,
    provider,
    model,
    namesProvider: (parsed === undefined ? file.values : parsed).provider !== undefined,
    env: withStoredKeys(env, file.values),
    chosen,
    ...defined({ baseURL }),
  };
}

/** Returns the key of a provider with its source; undefined if there is none. The order is that of `resolveAgent`. */
export function keyOf(
  settings: Pick<Settings, 'file' | 'env'>,
  provider: string,
  env: Environment,
): Setting<string> | undefined {
  const { values, path = 'the configuration' } = settings.file;
  const isConfigured = provider === (values.provider ?? defaultProvider);
  const variable = keyVariableIn(env, provider) ?? '';
  const places: readonly (readonly [value: string | undefined, source: string])[] = [
    [isConfigured ? values.apiKey : undefined, `apiKey in ${path}`],
    [isConfigured ? env['COBBLER_AGENT_API_KEY'] : undefined, 'COBBLER_AGENT_API_KEY'],
    [env[variable], variable],
    [values.keys?.[provider], `keys.${provider} in ${path}`],
  ];
  for (const [value, source] of places) {
    const key = cleanKey(value);
    if (key !== undefined) return { value: key, source };
  }
  return undefined;
}

/** Returns a key for display: enough to tell two keys apart, too little to use. */
export function maskedKey(key: string): string {
  if (key.length < 20) return '…';
  return `${/^sk-(ant-)?/.exec(key)?.[0] ?? ''}…${key.slice(-4)}`;
}

/** Returns the host that receives the requests. */
export function hostOf(settings: Pick<Settings, 'provider' | 'baseURL'>): string {
  const address = settings.baseURL?.value ?? providerEntry(settings.provider.value).address;
  return URL.parse(address)?.host ?? address;
}

function namedModel(env: Environment, flags: ModelFlags): Setting<string> | undefined {
  if (flags.model !== undefined) return { value: flags.model, source: flags.modelSource ?? '-m' };
  const named = env['COBBLER_MODEL']?.trim();
  return named === undefined || named === '' ? undefined : { value: named, source: 'COBBLER_MODEL' };
}

/** Reads `provider:model`. A prefix that resembles a provider name counts as a typing error. */
function parseNamed(text: string): { provider?: string; model: string } {
  if (providerNames.includes(text)) return { provider: text, model: defaultModel };
  const parsed = parseModel(text, providerNames);
  const first = /^([A-Za-z0-9_-]+)[:/]/.exec(text)?.[1];
  if (parsed.provider === undefined && first !== undefined) {
    const meant = nearest(first, providerNames);
    if (meant !== undefined) {
      throw UsageError.withCode(
        'unknown_provider',
        `Unknown provider ${JSON.stringify(first)}. Did you mean ${meant}${text.slice(first.length)}?`,
        'List the models: cobbler models',
      );
    }
  }
  if (parsed.model.trim() === '')
    throw UsageError.withCode('no_model', 'The model name is empty.', 'For example: -m balanced');
  return parsed;
}

interface ProviderClues {
  readonly file: LoadedConfig;
  readonly env: Environment;
  readonly named: Setting<string> | undefined;
  readonly parsed: { readonly provider?: string; readonly model: string } | undefined;
  readonly flags: ModelFlags;
}

/** Returns the provider: the named one, otherwise the one that the model's name implies, otherwise the one that has a key. */
function settleProvider({ file, env, named, parsed, flags }: ProviderClues): Setting<string> {
  if (parsed?.provider !== undefined && named !== undefined)
    return { value: parsed.provider, source: named.source };
  const configured = fromFile(file, file.values, 'provider');
  if (configured !== undefined) return configured;
  if (parsed !== undefined && flags.baseURL === undefined && file.values.baseURL === undefined) {
    for (const [name, { ownModels }] of Object.entries(providers)) {
      if (ownModels.test(parsed.model)) return { value: name, source: `the model ${parsed.model}` };
    }
  }
  const hasKey = (provider: string) => keyOf({ file, env }, provider, env) !== undefined;
  const other = providerNames.find((name) => name !== defaultProvider && hasKey(name));
  if (other === undefined || hasKey(defaultProvider) || file.values.model !== undefined) {
    return { value: defaultProvider, source: 'default' };
  }
  return { value: other, source: 'the only key' };
}

function settleAddress(
  ofFile: FileConfig,
  file: LoadedConfig,
  env: Environment,
  provider: string,
  flags: ModelFlags,
): Setting<string> | undefined {
  if (flags.baseURL !== undefined) return { value: flags.baseURL, source: '--base-url' };
  const configured = fromFile(file, ofFile, 'baseURL');
  if (configured !== undefined) return configured;
  const variable = providerEntry(provider).addressVariable;
  const address = env[variable]?.trim();
  return address === undefined || address === '' ? undefined : { value: address, source: variable };
}

/** Returns a setting of the file with its line. */
export function fromFile<Name extends keyof FileConfig>(
  file: LoadedConfig,
  values: FileConfig,
  name: Name,
): Setting<NonNullable<FileConfig[Name]>> | undefined {
  const value = values[name];
  if (value === undefined || value === null || value === '') return undefined;
  const line = file.lines[name];
  return { value, source: `${file.path ?? 'configuration'}${line === undefined ? '' : `:${line}`}` };
}

/** Adds stored keys for variables that are not set. Each key is used for its own provider only. */
function withStoredKeys(env: Environment, values: FileConfig): Environment {
  const filled: Record<string, string | undefined> = { ...env };
  for (const [name, { keyVariable }] of Object.entries(providers)) {
    const stored = cleanKey(values.keys?.[name]);
    if (stored !== undefined && keyVariableIn(env, name) === undefined) filled[keyVariable] = stored;
  }
  return filled;
}

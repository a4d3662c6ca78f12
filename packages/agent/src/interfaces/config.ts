import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Agent } from './agent.ts';

/** The model to use and its settings (requirement S0.28). */
export interface AgentConfig {
  /** Name of the provider. Default `claude`. */
  readonly provider?: string;
  /** A model id, or an alias: `fast`, `balanced`, `best`. Default `balanced`. */
  readonly model?: string;
  /** Maximum number of tokens in a response. 0 or absent: the provider's default. */
  readonly maxTokens?: number;
  /** Sampling temperature. -1 or absent: the provider's default. */
  readonly temperature?: number;
  /** Time limit of one model request in milliseconds, retries included. Default 600,000. */
  readonly requestTimeout?: number;
  /**
   * Time during which requests to an overloaded or unreachable service are retried, in milliseconds. Default 300,000;
   * 0: three retries.
   */
  readonly retryFor?: number;
  /** API key. Empty or absent: taken from the environment. */
  readonly apiKey?: string;
  /** Base URL of another service with the same protocol. */
  readonly baseURL?: string;
}

/** Environment variables as data, so that nothing reads the real ones implicitly. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** The configuration that every provider's factory accepts. */
export interface FactoryConfig extends AgentConfig {
  /** The environment in which a missing key is looked up. Default: the environment of the process, if there is one. */
  readonly env?: Environment;
  readonly runtime?: Runtime;
}

/** Creates an agent of one provider. Throws AgentError `invalid` for an unusable configuration. */
export type AgentFactory = (config: FactoryConfig) => Agent;

/** The provider of a configuration that names none. */
export const defaultProvider = 'claude';

/** Splits `provider:model` or `provider/model`. A name that does not start with a known provider is a model. */
export function parseModel(text: string, providers: readonly string[]): { provider?: string; model: string } {
  const [, provider = '', model = ''] = /^([A-Za-z0-9_-]+)[:/](.+)$/.exec(text) ?? [];
  return model !== '' && providers.includes(provider) ? { provider, model } : { model: text };
}

/**
 * Creates the agent that a configuration names. Factories are passed as data: the core knows no provider.
 *
 * COBBLER_AGENT_API_KEY is passed only to the configured provider, so that no provider receives the key of another.
 * Each factory then looks for its own variable.
 *
 * @param chosen Overrides for this call, such as a command-line flag. A different provider here does not get the
 * configured key, address or model.
 * @throws AgentError `invalid` for an unknown provider, with a list of the known ones.
 */
export function resolveAgent(
  config: AgentConfig,
  factories: Readonly<Record<string, AgentFactory>>,
  env: Environment,
  chosen: AgentConfig & { readonly runtime?: Runtime } = {},
): Agent {
  const configured = config.provider ?? defaultProvider;
  const provider = chosen.provider ?? configured;
  const factory = Object.hasOwn(factories, provider) ? factories[provider] : undefined;
  if (factory === undefined) {
    const known = Object.keys(factories).join(', ');
    throw new AgentError({
      kind: 'invalid',
      code: 'unknown_provider',
      message: `There is no provider named ${JSON.stringify(provider)}. Known: ${known}.`,
    });
  }
  const base = provider === configured ? config : withoutCredentials(config);
  const shared = provider === configured ? cleanKey(env['COBBLER_AGENT_API_KEY']) : undefined;
  const apiKey = cleanKey(chosen.apiKey) ?? cleanKey(base.apiKey) ?? shared;
  const { apiKey: _, ...rest } = { ...base, ...chosen };
  return factory({ ...rest, provider, env, ...defined({ apiKey }) });
}

/** Returns a key without the spaces and quotes that come from pasting. An empty key counts as absent. */
export function cleanKey(key: string | undefined): string | undefined {
  const clean = key
    ?.trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim();
  return clean || undefined;
}

/** Removes the key, the address and the model, which must not be used for another provider. */
function withoutCredentials(config: AgentConfig): AgentConfig {
  const { apiKey: _key, baseURL: _url, model: _model, ...rest } = config;
  return rest;
}

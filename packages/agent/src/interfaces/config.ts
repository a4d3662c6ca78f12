import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Agent } from './agent.ts';

/** Which model to use and how (seed requirement S0.28). */
export interface AgentConfig {
  /** Default `claude`. */
  readonly provider?: string;
  /** A model id, or an alias: `fast`, `balanced`, `best`. Default `balanced`. */
  readonly model?: string;
  /** Most tokens of one answer. 0 or absent: the provider's default. */
  readonly maxTokens?: number;
  /** -1 or absent: the provider's default. */
  readonly temperature?: number;
  /** Time limit of one model call in milliseconds, retries included. Default 600,000. */
  readonly requestTimeout?: number;
  /**
   * For how long a service that is overloaded or cannot be reached is asked again, in milliseconds. Default 300,000;
   * 0: three more attempts.
   */
  readonly retryFor?: number;
  /** Empty or absent: taken from the environment. */
  readonly apiKey?: string;
  /** Another address of a service that speaks the same protocol. */
  readonly baseURL?: string;
}

/** Environment variables as data, so that nothing reads the real ones unseen. */
export type Environment = Readonly<Record<string, string | undefined>>;

/** What every provider's factory takes. */
export interface FactoryConfig extends AgentConfig {
  /** Where a missing key is looked up. Default: the environment of the process, where there is one. */
  readonly env?: Environment;
  readonly runtime?: Runtime;
}

/** Makes an agent of one provider. Throws AgentError `invalid` for a configuration that cannot work. */
export type AgentFactory = (config: FactoryConfig) => Agent;

/** The provider of a configuration that names none. */
export const defaultProvider = 'claude';

/** Splits `provider:model` or `provider/model`; a name without a known provider in front is a model. */
export function parseModel(text: string, providers: readonly string[]): { provider?: string; model: string } {
  const match = /^([A-Za-z0-9_-]+)[:/](.+)$/.exec(text);
  if (match !== null && providers.includes(match[1] ?? ''))
    return { provider: match[1] ?? '', model: match[2] ?? '' };
  return { model: text };
}

/**
 * Makes the agent that a configuration names. Factories are plain data: the core knows no provider.
 *
 * COBBLER_AGENT_API_KEY is given to the configured provider only when that is the default one, so that no
 * provider ever gets the key of another; each factory then looks for its own variable.
 *
 * @param chosen overrides of this call, such as a command-line flag; its provider is not the default one.
 * @throws AgentError `invalid` for an unknown provider, naming those that are known.
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

/** A key without the blanks and quotes that come with pasting; empty counts as absent. */
export function cleanKey(key: string | undefined): string | undefined {
  const clean = key
    ?.trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim();
  return clean === undefined || clean === '' ? undefined : clean;
}

/** Another provider may share limits and time-outs, never the key, the address or the model. */
function withoutCredentials(config: AgentConfig): AgentConfig {
  const { apiKey: _key, baseURL: _url, model: _model, ...rest } = config;
  return rest;
}

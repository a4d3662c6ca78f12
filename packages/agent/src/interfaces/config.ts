import { read, text } from '../values/input.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Agent, Effort } from './agent.ts';

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
  /** Reasoning effort. Absent: the provider's default. Models that do not support it are rejected. */
  readonly effort?: Effort;
  /**
   * True to let the model search the web with the provider's own search, at most 10 times in a request, at a price for
   * each search. Providers and APIs without such a search reject the option with `unsupported`. Default false.
   */
  readonly search?: boolean;
  /** Time limit of one model request in milliseconds, retries included. Default 600,000. */
  readonly requestTimeout?: number;
  /**
   * Time during which requests to an overloaded or unreachable service are retried, in milliseconds. Default 300,000.
   * 0: no request is retried.
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

/** Returns a key without the spaces and quotes that come from pasting. An empty key counts as absent. */
export function cleanKey(key: string | undefined): string | undefined {
  if (key !== undefined && typeof key !== 'string') read(key, text, 'config.apiKey');
  const clean = key
    ?.trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim();
  return clean || undefined;
}

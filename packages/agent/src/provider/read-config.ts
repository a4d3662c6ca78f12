import { readEffort } from '../interfaces/agent.ts';
import type { Environment, FactoryConfig } from '../interfaces/config.ts';
import type { Readers } from '../values/input.ts';
import { amount, callable, flag, text, when, withMethods } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type { Timeouts } from './http/timeouts.ts';
import { readTimeouts } from './http/timeouts.ts';
import type { RetryPolicy } from './retry-policy.ts';
import { readRetry } from './retry-policy.ts';
import type { Transport } from './wire/transport.ts';

/** The configuration that the providers of this project accept. */
export interface ServiceConfig extends FactoryConfig {
  readonly timeouts?: Partial<Timeouts>;
  readonly retry?: Partial<RetryPolicy>;
  /** Transport of requests. Default: the platform's fastest transport. */
  readonly transport?: Transport;
}

const environment = when<Environment>(isObject, 'an object');

/** The readers of {@link ServiceConfig}: a provider adds those of its own options. */
export const configReaders: Readers<ServiceConfig> = {
  provider: text,
  model: text,
  maxTokens: amount,
  // -1 is the default of the provider.
  temperature: when((value) => Number.isFinite(value), 'a number'),
  effort: readEffort,
  search: flag,
  requestTimeout: amount,
  retryFor: amount,
  apiKey: text,
  baseURL: text,
  env: (value) => ({ ...environment(value) }),
  runtime: withMethods('now', 'monotonic', 'timer', 'random'),
  timeouts: readTimeouts,
  retry: readRetry,
  transport: callable,
};

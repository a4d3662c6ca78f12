import { readEffort } from '../interfaces/agent.ts';
import type { AgentConfig, Environment, FactoryConfig } from '../interfaces/config.ts';
import { AgentError } from '../values/errors.ts';
import type { Readers } from '../values/input.ts';
import { amount, callable, read, record, text, when, withMethods } from '../values/input.ts';
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

const readMaxUses = record<{ readonly maxUses?: number }>({
  maxUses: when(isCount, 'a positive whole number'),
});
const readSearch = (value: unknown): AgentConfig['search'] =>
  typeof value === 'boolean' ? value : readMaxUses(value);
const readSearching = when<Pick<AgentConfig, 'search'>>(isObject, 'an object');

function isCount(value: unknown): value is number {
  return Number.isInteger(value) && (value as number) > 0;
}

/** Returns the maximum number of web searches in one request; 0 without the `search` option. */
export function maxSearches(config: Pick<AgentConfig, 'search'>): number {
  const { search = false } = read(config, readSearching, 'config');
  return search === false ? 0 : ((search === true ? undefined : search.maxUses) ?? 10);
}

/** Rejects the `search` option. @throws AgentError `invalid` with code `unsupported` */
export function refuseSearch(config: Pick<AgentConfig, 'search'>, provider: string, advice: string): void {
  if (maxSearches(config) === 0) return;
  const message = `The search option does not work here. ${advice}`;
  throw new AgentError({ kind: 'invalid', code: 'unsupported', provider, message });
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
  search: readSearch,
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

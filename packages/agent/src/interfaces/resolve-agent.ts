/**
 * Creates the agent that a configuration names, for programs whose users choose the model.
 *
 * @module
 */

import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { listOf, read, text, when } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Agent } from './agent.ts';
import type { AgentConfig, AgentFactory, Environment, FactoryConfig } from './config.ts';
import { cleanKey, defaultProvider } from './config.ts';

/** Splits `provider:model` or `provider/model`. A name that does not start with a known provider is a model. */
export function parseModel(name: string, providers: readonly string[]): { provider?: string; model: string } {
  const [, provider = '', model = ''] = /^([A-Za-z0-9_-]+)[:/](.+)$/.exec(read(name, text, 'name')) ?? [];
  const isKnown = model !== '' && read(providers, listOf(text), 'providers').includes(provider);
  return isKnown ? { provider, model } : { model: name };
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
  read(config, settings, 'config');
  read(chosen, settings, 'config');
  const known = read(factories, (value) => ({ ...settings(value) }) as typeof factories, 'factories');
  const [factory, given] = read(config, () => chosenFactory(config, known, env, chosen), 'config');
  return factory(given);
}

const settings = when<object>(isObject, 'an object');

function chosenFactory(
  config: AgentConfig,
  factories: Readonly<Record<string, AgentFactory>>,
  env: Environment,
  chosen: AgentConfig,
): [AgentFactory, FactoryConfig] {
  const configured = config.provider ?? defaultProvider;
  const provider = read(chosen.provider ?? configured, text, 'config.provider');
  const factory = Object.hasOwn(factories, provider) ? factories[provider] : undefined;
  if (typeof factory !== 'function') {
    const known = Object.keys(factories).join(', ');
    const message = `There is no provider named ${JSON.stringify(provider)}. Known: ${known}.`;
    throw new AgentError({ kind: 'invalid', code: 'unknown_provider', message });
  }
  const base = provider === configured ? config : withoutCredentials(config);
  const shared = provider === configured ? cleanKey(env['COBBLER_AGENT_API_KEY']) : undefined;
  const apiKey = cleanKey(chosen.apiKey) ?? cleanKey(base.apiKey) ?? shared;
  const { apiKey: _, ...rest } = { ...base, ...chosen };
  return [factory, { ...rest, provider, env, ...defined({ apiKey }) }];
}

/** Removes the key, the address and the model, which must not be used for another provider. */
function withoutCredentials(config: AgentConfig): AgentConfig {
  const { apiKey: _key, baseURL: _url, model: _model, ...rest } = config;
  return rest;
}

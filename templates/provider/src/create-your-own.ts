import type { Agent, Capabilities, Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { CreateAgentOptions } from '@cobbler/agent/provider';
import { cleanKey, createAgent } from '@cobbler/agent/provider';
import { yourOwnWire } from './wire.ts';

/** The capabilities of the service. The contract tests all of them, except for those in `lacks` of the mock wire. */
const capabilities: Capabilities = {
  files: ['image/png', 'image/jpeg', 'application/pdf'],
  reasoning: true,
  parallelCalls: true,
  output: 'native',
  sampling: true,
  cacheUsage: true,
};

/** The address of the service, its model, and options for requests. */
export interface YourOwnConfig extends Partial<Omit<CreateAgentOptions, 'capabilities'>> {
  /** Default: the variable YOUR_OWN_API_KEY. */
  readonly apiKey?: string;
  /** Default: the service's own address. */
  readonly baseURL?: string;
  /** The environment to look up a missing key in. Default: that of the process. */
  readonly env?: Environment;
}

/**
 * Creates an agent for Your Own.
 * @throws AgentError `invalid`, code `no_key`, without a key.
 */
export function createYourOwn(config: YourOwnConfig = {}): Agent {
  const { env = process.env, baseURL = 'https://your-own.example', model = 'a-model', ...options } = config;
  const apiKey = cleanKey(options.apiKey) ?? cleanKey(env['YOUR_OWN_API_KEY']);
  if (apiKey === undefined) {
    const message = 'There is no API key for Your Own. Set YOUR_OWN_API_KEY, or pass `apiKey`.';
    throw new AgentError({ kind: 'invalid', code: 'no_key', message });
  }
  return createAgent(yourOwnWire(baseURL, apiKey), { ...options, model, capabilities });
}

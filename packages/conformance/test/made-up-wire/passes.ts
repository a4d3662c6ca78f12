import type { Agent } from '@cobbler/agent';
import { cachedCredentials, createAgent } from '@cobbler/agent/provider';
import type { AgentLink } from '../../src/agent/setup/subject.ts';
import { createLantern, lantern } from './wire.ts';

/** Returns an agent of the Lantern service, for passes that expire. */
export function createLanternWithPasses(link: AgentLink): Agent {
  const { baseURL, apiKey, currentKey, ...options } = link;
  const authorize = cachedCredentials(async () => {
    const pass = currentKey === undefined ? apiKey : await currentKey();
    return { headers: { 'x-lantern-pass': pass }, secrets: [pass] };
  });
  const wire = { ...lantern(baseURL, apiKey), authorize };
  const { model, capabilities } = createLantern(link);
  return createAgent(wire, { ...options, model, capabilities });
}

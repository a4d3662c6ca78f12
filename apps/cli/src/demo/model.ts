import type { Agent, Pricing } from '@cobbler/agent';
import { createClaude } from '@cobbler/provider-claude';
import type { Clock } from '../terminal/io.ts';
import type { FailureContext } from '../view/failure.ts';
import { scriptedModel } from './script.ts';
import { serveScriptedModel } from './server.ts';

/** The scripted model on this machine. */
export interface DemoModel {
  /** Where it answers. */
  readonly url: string;
  readonly agent: Agent;
  readonly pricing: Pricing;
  readonly failure: Omit<FailureContext, 'verbose'>;
  close(): Promise<void>;
}

/**
 * Starts the scripted model and what asks it over HTTP, which is the vendor's client as ever.
 *
 * @param clock see {@link serveScriptedModel}
 */
export async function demoModel(clock: Clock | undefined): Promise<DemoModel> {
  const { url, close } = await serveScriptedModel(clock);
  return {
    url,
    agent: createClaude({ model: scriptedModel, apiKey: 'no-key-needed', baseURL: url, env: {} }),
    pricing: () => ({ input: 0, output: 0 }),
    failure: { host: new URL(url).host, model: scriptedModel, provider: 'claude' },
    close,
  };
}

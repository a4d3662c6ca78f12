import type { Agent, Pricing } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { makeAgent } from '../config/make-agent.ts';
import { noKey } from '../config/no-key.ts';
import { ownPrice } from '../config/prices.ts';
import { providers } from '../config/providers.ts';
import type { RunFlags } from '../config/run-flags.ts';
import { keyOf, readSettings } from '../config/settings.ts';
import type { Environment, Io } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import { UsageError } from '../terminal/usage-error.ts';

/**
 * Creates the agent of the assistant: the model that `-m` names, otherwise ANTHROPIC_MODEL or `claude-haiku-4-5`
 * through the AI SDK.
 * @throws UsageError without a key, AgentError `invalid` for any other configuration that cannot work.
 */
export async function chooseAgent(flags: RunFlags, io: Pick<Io, 'env'>): Promise<Agent> {
  if (flags.model !== undefined) return (await makeAgent(await readSettings(io.env, flags), flags.api)).agent;
  const { COBBLER_MODEL: _, ...env } = io.env;
  const { retryFor: given } = flags;
  const settings = await readSettings(env, { model: 'claude' });
  const retryFor = given ?? settings.file.values.retryFor;
  const { createAiSdk } = await import('@cobbler/provider-ai-sdk');
  const { anthropicModel } = await import('@cobbler/provider-ai-sdk/anthropic');
  const key = keyOf(settings, 'claude', io.env);
  const baseURL = flags.baseURL ?? settings.baseURL?.value;
  try {
    return createAiSdk(
      anthropicModel({
        env: settings.env,
        ...defined({ apiKey: key?.value, baseURL, retryFor }),
      }),
    );
  } catch (error) {
    if (!AgentError.is(error) || error.code !== 'no_key') throw error;
    const name = ownName(io.env);
    throw new UsageError(
      noKey('claude', settings, false).message,
      `Set one:          export ANTHROPIC_API_KEY=...   or store one: ${name} config set-key claude`,
      `Another model:    ${name} assistant -m openai:MODEL   (--base-url for your own server)`,
      `Try it locally:   ${name} assistant --local   (no key, no Telegram)`,
    );
  }
}

/** Returns the prices of the models in the logs; AI SDK providers use their own names. */
export async function pricesOf(env: Environment): Promise<Pricing> {
  const { file } = await readSettings(env, { model: 'claude' });
  const loaded = await Promise.all(Object.values(providers).map(({ load }) => load()));
  const own = file.values.prices ?? {};
  return (provider, model, inputTokens) => {
    const name = /claude|anthropic/i.test(provider)
      ? 'claude'
      : /openai/i.test(provider)
        ? 'openai'
        : provider;
    const listed = () => loaded.map(({ pricing }) => pricing(name, model, inputTokens));
    return ownPrice({ own }, name, model, inputTokens) ?? listed().find((price) => price !== undefined);
  };
}

import type { Agent, Limits, Tool } from '@cobbler/agent';
import { defaultLimits } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { textOrFile } from '../config/attachment.ts';
import type { Instructions } from '../config/instructions.ts';
import { usualRetryMs } from '../config/make-agent.ts';
import type { RunFlags } from '../config/run-flags.ts';
import type { Settings } from '../config/settings.ts';
import { hostOf, keyOf } from '../config/settings.ts';
import { dayOf, systemPrompt } from '../config/system-prompt.ts';
import type { SessionMetadata } from '../session/session-metadata.ts';
import type { Io } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import type { FailureContext } from '../view/failure.ts';

const defaultTurns = 100;

/** Returns what a session needs to continue with the same settings. */
export function noteOf(flags: RunFlags, folder: string, { provider, model }: Settings): SessionMetadata {
  return {
    folder,
    model: `${provider.value}:${model.value}`,
    ...defined({ baseURL: flags.baseURL, api: flags.api, agent: flags.agentFolder?.folder }),
  };
}

export function limitsOf(
  flags: RunFlags,
  { file: { values }, chosen }: Settings,
): Limits & { readonly turns: number } {
  const usd = flags.maxUsd ?? values.maxUsd;
  const repeats = flags.maxRepeats ?? values.maxRepeats;
  const { retryFor = values.retryFor ?? 0 } = chosen;
  // Without its own time limit, a run may use the usual one besides a long wait for its service.
  const longer = retryFor > usualRetryMs ? defaultLimits.ms + retryFor : undefined;
  return {
    turns: flags.maxTurns ?? (values.maxTurns || defaultTurns),
    ...defined({ repeats, usd, tokens: flags.maxTokens, ms: flags.timeoutMs ?? longer }),
  };
}

/** Returns the effect of a reached limit on tokens or money, or of a budget. */
export function onReachedOf(flags: RunFlags, { file: { values } }: Settings): 'end' | 'ask' {
  return flags.askAtLimit || values.askAtLimit === true ? 'ask' : 'end';
}

export function systemOf(
  flags: RunFlags,
  folder: string,
  tools: readonly Tool[],
  instructions: readonly Instructions[],
  io: Io,
): string[] {
  return systemPrompt({
    folder,
    platform: process.platform,
    today: dayOf(new Date()),
    hasTools: tools.length > 0,
    plans: flags.mode === 'plan',
    ...defined({
      own: flags.system === undefined ? flags.agentFolder?.instructions : textOrFile(flags.system, io.cwd()),
      appended: flags.appendSystem === undefined ? undefined : textOrFile(flags.appendSystem, io.cwd()),
    }),
    instructions,
  });
}

/** Returns what an error message says about the model. Without settings, another program uses it. */
export function failureContext(
  settings: Settings | undefined,
  { model, provider }: Agent,
  io: Io,
): Omit<FailureContext, 'verbose'> {
  if (settings === undefined) return { host: provider, model, provider };
  const key = keyOf(settings, provider, io.env);
  const name = ownName(io.env);
  return { host: hostOf(settings), model, provider, name, ...defined({ keySource: key?.source }) };
}

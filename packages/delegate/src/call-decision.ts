import type { Verdict } from '@cobbler/agent';
import { askForVerdict, readVerdict } from '@cobbler/agent';
import type { CallDecision } from './backend.ts';

/** A decision about a call, read from whatever was given as one: what is not clearly an allow denies. */
export function readDecision(value: unknown, toolName?: string): CallDecision {
  return decided(readVerdict(value), toolName);
}

/** Asks code of a user about a call and reads its answer. Never rejects. */
export async function askForDecision(
  ask: () => unknown,
  toolName: string,
  signal?: AbortSignal,
): Promise<CallDecision> {
  return decided(await askForVerdict(ask, signal), toolName);
}

/**
 * How long Claude Code waits for a decision, in seconds: a day. A hook whose time is up counts as one that failed, and
 * Claude Code goes on without its decision; its default is a minute, which a person may need.
 */
export const decisionSeconds = 86_400;

/** Nobody is behind these doors who could be asked. */
function decided(verdict: Verdict, toolName = 'This call'): CallDecision {
  if (verdict.type !== 'ask') return verdict;
  return { type: 'deny', message: `${toolName} needs approval, but no user can be asked.` };
}

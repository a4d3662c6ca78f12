import type { Verdict } from '@cobbler/agent';
import { askForVerdict, readVerdict } from '@cobbler/agent/harness';
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
 * Time that Claude Code waits for a decision, in seconds: a day. A hook that times out counts as failed, and Claude
 * Code continues without its decision; the default is a minute, which may be too short for a user.
 */
export const decisionSeconds = 86_400;

/** No user can be asked here. */
function decided(verdict: Verdict, toolName = 'This call'): CallDecision {
  if (verdict.type !== 'ask') return verdict;
  return { type: 'deny', message: `${toolName} needs approval, but no user can be asked.` };
}

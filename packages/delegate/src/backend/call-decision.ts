import type { Verdict } from '@cobbler/agent';
import { askForVerdict, readVerdict } from '@cobbler/agent/harness';
import type { CallDecision } from './backend.ts';

/** Reads a decision about a call from any value. Everything except a clear allow denies the call. */
export function readDecision(value: unknown, toolName?: string): CallDecision {
  return decisionOf(readVerdict(value), toolName);
}

/** Calls the user's code for a decision about a call and reads the result. Never rejects. */
export async function askForDecision(
  ask: () => unknown,
  toolName: string,
  signal?: AbortSignal,
): Promise<CallDecision> {
  return decisionOf(await askForVerdict(ask, signal), toolName);
}

/**
 * Time that Claude Code waits for a decision, in seconds: one day. A hook that times out counts as failed, and Claude
 * Code continues without its decision. The default is one minute, which may be too short for a user.
 */
export const decisionSeconds = 86_400;

/** Converts a verdict to a decision. Asking is not possible here, so it denies the call. */
function decisionOf(verdict: Verdict, toolName = 'This call'): CallDecision {
  if (verdict.type !== 'ask') return verdict;
  return { type: 'deny', message: `${toolName} needs approval, but no user can be asked.` };
}

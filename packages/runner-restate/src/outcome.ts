import type { ErrorData } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { toSerializableError } from '@cobbler/agent/runner';

/** The outcome of a run, with its output or error as JSON. */
export type RestateOutcome =
  | { readonly state: 'cancelled' }
  | { readonly state: 'done' | 'failed'; readonly text: string };

export function failedOutcome(thrown: unknown): RestateOutcome {
  return { state: 'failed', text: JSON.stringify(toSerializableError(thrown)) };
}

/** Returns the error of a failed run. */
export function errorOf(text: string): AgentError {
  return new AgentError(JSON.parse(text) as ErrorData);
}

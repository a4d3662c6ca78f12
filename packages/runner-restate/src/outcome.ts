import { toSerializableError } from '@cobbler/agent/runner';

/** The outcome of a run, with its output or error as JSON. */
export type RestateOutcome =
  | { readonly state: 'cancelled' }
  | { readonly state: 'done' | 'failed'; readonly text: string };

export function failedOutcome(thrown: unknown): RestateOutcome {
  return { state: 'failed', text: JSON.stringify(toSerializableError(thrown)) };
}

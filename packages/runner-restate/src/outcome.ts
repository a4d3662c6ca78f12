import type { ErrorData } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { toSerializableError } from '@cobbler/agent/runner';
import { plainJson } from '@cobbler/agent/values';

/** The outcome of a run, with its output or error as JSON. */
export type RestateOutcome =
  | { readonly state: 'cancelled' }
  | { readonly state: 'done' | 'failed'; readonly text: string };

export function done(output: unknown, runId: string): RestateOutcome {
  return { state: 'done', text: plainJson(output, `The output of run ${runId}`) };
}

export function failed(thrown: unknown): RestateOutcome {
  return { state: 'failed', text: JSON.stringify(toSerializableError(thrown)) };
}

/** Returns the error of a failed run. */
export function errorOf(text: string): AgentError {
  return new AgentError(JSON.parse(text) as ErrorData);
}

/** Returns the error of a run that was started by an unknown version of its workflow. */
export function wrongVersion(runId: string, version: string, own: string): AgentError {
  const message = `Run ${runId} was started by version ${JSON.stringify(version)} of its workflow, and version ${JSON.stringify(own)} cannot continue it. Start it again under another id.`;
  return new AgentError({ kind: 'invalid', code: 'routine_version', message });
}

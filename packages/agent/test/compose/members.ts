import type { Agent, Capabilities, ModelResponse } from '../../src/interfaces/agent.ts';
import type { ModelStep } from '../../src/testing/scripted-model.ts';
import { scriptedModel, textResponse } from '../../src/testing/scripted-model.ts';
import type { ErrorData } from '../../src/values/errors.ts';
import { AgentError } from '../../src/values/errors.ts';
import type { Usage } from '../../src/values/usage.ts';

/** A failure that another provider can cure. */
export const busy: ErrorData = {
  kind: 'rate_limit',
  code: 'busy',
  message: 'Overloaded.',
  retryable: true,
  status: 529,
  attempts: 4,
};

export const tooLong: ErrorData = {
  kind: 'invalid',
  code: 'context_full',
  message: 'Too long.',
  attempts: 1,
};

/** Returns a step that fails with this error. */
export function fails(error: ErrorData): ModelStep {
  return () => Promise.reject(new AgentError(error));
}

/** Returns a usage of so many input tokens. */
export function tokens(inputTokens: number): Usage {
  return { inputTokens, outputTokens: 0 };
}

/** Creates an agent with its own name. A text is a response. */
export function member(
  name: string,
  steps: readonly (ModelStep | string)[],
  capabilities: Partial<Capabilities> = {},
  maxTokens?: number,
): Agent & { readonly requests: readonly unknown[] } {
  const model = `${name}-1`;
  const script = steps.map((step) => (typeof step === 'string' ? textResponse(step, { model }) : step));
  return { ...scriptedModel(script, capabilities, maxTokens), provider: name, model };
}

/** Returns the models that were tried, as `provider: code`. */
export function triedIn({ tried = [] }: Pick<ModelResponse, 'tried'> | AgentError): string[] {
  return tried.map(({ provider, code, skipped }) => `${provider}: ${skipped ? 'skipped, ' : ''}${code}`);
}

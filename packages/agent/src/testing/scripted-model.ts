import type {
  Agent,
  Capabilities,
  ModelRequest,
  ModelResponse,
  RequestContext,
  StopReason,
} from '../interfaces/agent.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import type { AssistantPart } from '../values/message.ts';
import type { Usage } from '../values/usage.ts';
import { noUsage } from '../values/usage.ts';

/** One answer, or how to come by it. */
export type ModelStep =
  | ModelResponse
  | ((request: ModelRequest, context: RequestContext) => ModelResponse | Promise<ModelResponse>);

/** An agent whose every answer is laid down, and nothing else: no wire, no time, no retries. */
export interface ScriptedModel extends Agent {
  /** The requests as they were when they were made. */
  readonly requests: readonly ModelRequest[];
}

/** What a puppet's answer uses unless it says otherwise. */
export const scriptedUsage: Usage = Object.freeze({ inputTokens: 100, outputTokens: 20 });

const everything: Capabilities = Object.freeze({
  files: ['*/*'],
  reasoning: true,
  parallelCalls: true,
  output: 'native',
  sampling: true,
  cacheUsage: true,
});

/**
 * Makes an agent that takes one step for each request. A request too many fails with code `script_over`.
 * `maxTokens` is the agent's own maximum for a response.
 */
export function scriptedModel(
  steps: readonly ModelStep[],
  capabilities: Partial<Capabilities> = {},
  maxTokens?: number,
): ScriptedModel {
  const requests: ModelRequest[] = [];
  return {
    provider: 'puppet',
    model: 'puppet-model',
    capabilities: { ...everything, ...capabilities },
    ...defined({ maxTokens }),
    requests,
    async run(request, context = {}) {
      const step = steps[requests.length];
      requests.push({ ...request, messages: [...request.messages] });
      if (step === undefined) {
        throw new AgentError({ kind: 'agent', code: 'script_over', message: 'The script is over.' });
      }
      return typeof step === 'function' ? await step(request, context) : step;
    },
  };
}

/** What may differ from a plain answer. */
export interface ResponseFields {
  readonly stop?: StopReason;
  readonly usage?: Usage;
  readonly attempts?: number;
  readonly wasted?: Usage;
  readonly model?: string;
}

/** A whole answer from its parts. */
export function modelResponse(content: readonly AssistantPart[], rest: ResponseFields = {}): ModelResponse {
  const callsResponse = content.filter((part) => part.type === 'tool_call');
  return {
    content: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls: callsResponse,
    usage: rest.usage ?? scriptedUsage,
    stopReason: rest.stop ?? (callsResponse.length > 0 ? 'tool_use' : 'complete'),
    message: { role: 'assistant', content },
    model: rest.model ?? 'puppet-model',
    attempts: rest.attempts ?? 1,
    wasted: rest.wasted ?? noUsage,
  };
}

/** An answer in words. */
export function textResponse(text: string, rest: ResponseFields = {}): ModelResponse {
  return modelResponse([{ type: 'text', text }], rest);
}

/** A call in a script: a tool without arguments, or with them. */
export type ScriptedCall =
  | string
  | { readonly name: string; readonly id?: string; readonly arguments?: Record<string, unknown> };

/** An answer that calls tools; ids are `call-1`, `call-2` and so on in each answer, as some servers do. */
export function calls(made: readonly ScriptedCall[], rest: ResponseFields = {}): ModelResponse {
  return modelResponse(made.map(callPart), rest);
}

function callPart(call: ScriptedCall, index: number): AssistantPart {
  const {
    name,
    id = `call-${index + 1}`,
    arguments: args = {},
  } = typeof call === 'string' ? { name: call } : call;
  return { type: 'tool_call', id, toolName: name, arguments: args };
}

/** A step that answers when it is told to, or never; the request's signal makes it fail as aborted. */
export function pendingResponse(until: Promise<ModelResponse>): ModelStep {
  return (_request, { signal }) =>
    new Promise((resolve, reject) => {
      const abort = () => reject(new AgentError({ kind: 'aborted', message: 'The request was aborted.' }));
      signal?.addEventListener('abort', abort, { once: true });
      until.then(resolve, reject);
    });
}

/** A step that never answers, whatever its signal says. */
export function noResponse(): ModelStep {
  return () => new Promise(() => {});
}

/** A step that fails. */
export function failedResponse(error: unknown): ModelStep {
  return () => Promise.reject(error);
}

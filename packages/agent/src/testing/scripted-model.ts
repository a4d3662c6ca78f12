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

/** A response, or a function that returns one. */
export type ModelStep =
  | ModelResponse
  | ((request: ModelRequest, context: RequestContext) => ModelResponse | Promise<ModelResponse>);

/** An agent whose responses are all predefined, without a wire, delays or retries. */
export interface ScriptedModel extends Agent {
  /** The requests, copied when they were made. */
  readonly requests: readonly ModelRequest[];
}

/** Default usage of a scripted response. */
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
 * Creates an agent that uses one step per request. A request after the last step fails with code `script_over`.
 * `maxTokens` is the agent's maximum number of output tokens.
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
        throw new AgentError({
          kind: 'agent',
          code: 'script_over',
          message: 'The script has no more steps.',
        });
      }
      return typeof step === 'function' ? await step(request, context) : step;
    },
  };
}

/** Optional fields of a response. */
export interface ResponseFields {
  readonly stop?: StopReason;
  readonly usage?: Usage;
  readonly attempts?: number;
  readonly wasted?: Usage;
  readonly model?: string;
}

/** Creates a response from its parts. */
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

/** Creates a response with only text. */
export function textResponse(text: string, rest: ResponseFields = {}): ModelResponse {
  return modelResponse([{ type: 'text', text }], rest);
}

/** A call in a script: a tool name, or a name with arguments. */
export type ScriptedCall =
  | string
  | { readonly name: string; readonly id?: string; readonly arguments?: Record<string, unknown> };

/**
 * Creates a response with tool calls; ids are `call-1`, `call-2` and so on in each response, as some servers number
 * them.
 */
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

/** Returns a step that waits for the given response; the request's signal makes it fail as aborted. */
export function pendingResponse(until: Promise<ModelResponse>): ModelStep {
  return (_request, { signal }) =>
    new Promise((resolve, reject) => {
      const abort = () => reject(new AgentError({ kind: 'aborted', message: 'The request was aborted.' }));
      signal?.addEventListener('abort', abort, { once: true });
      until.then(resolve, reject);
    });
}

/** Returns a step that never responds and ignores its signal. */
export function noResponse(): ModelStep {
  return () => new Promise(() => {});
}

/** Returns a step that fails. */
export function failedResponse(error: unknown): ModelStep {
  return () => Promise.reject(error);
}

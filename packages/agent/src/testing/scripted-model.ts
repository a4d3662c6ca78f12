import type {
  Agent,
  Capabilities,
  ModelRequest,
  ModelResponse,
  RunContext,
  StopReason,
} from '../interfaces/agent.ts';
import { AgentError } from '../values/errors.ts';
import type { AssistantPart } from '../values/message.ts';
import type { Usage } from '../values/usage.ts';
import { noUsage } from '../values/usage.ts';

/** One answer, or how to come by it. */
export type PuppetStep =
  | ModelResponse
  | ((request: ModelRequest, context: RunContext) => ModelResponse | Promise<ModelResponse>);

/** An agent whose every answer is laid down, and nothing else: no wire, no time, no retries. */
export interface Puppet extends Agent {
  /** The requests as they were when they were made. */
  readonly requests: readonly ModelRequest[];
}

/** What a puppet's answer uses unless it says otherwise. */
export const puppetUsage: Usage = Object.freeze({ inputTokens: 100, outputTokens: 20 });

const everything: Capabilities = Object.freeze({
  images: true,
  documents: true,
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
export function puppet(
  steps: readonly PuppetStep[],
  capabilities: Partial<Capabilities> = {},
  maxTokens?: number,
): Puppet {
  const requests: ModelRequest[] = [];
  return {
    provider: 'puppet',
    model: 'puppet-model',
    capabilities: { ...everything, ...capabilities },
    ...(maxTokens !== undefined && { maxTokens }),
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
export interface AnswerRest {
  readonly stop?: StopReason;
  readonly usage?: Usage;
  readonly attempts?: number;
  readonly wasted?: Usage;
  readonly model?: string;
}

/** A whole answer from its parts. */
export function answers(content: readonly AssistantPart[], rest: AnswerRest = {}): ModelResponse {
  const calls = content.filter((part) => part.type === 'tool_call');
  return {
    content: content.map((part) => (part.type === 'text' ? part.text : '')).join(''),
    toolCalls: calls,
    usage: rest.usage ?? puppetUsage,
    stopReason: rest.stop ?? (calls.length > 0 ? 'tool_use' : 'complete'),
    message: { role: 'assistant', content },
    model: rest.model ?? 'puppet-model',
    attempts: rest.attempts ?? 1,
    wasted: rest.wasted ?? noUsage,
  };
}

/** An answer in words. */
export function says(text: string, rest: AnswerRest = {}): ModelResponse {
  return answers([{ type: 'text', text }], rest);
}

/** A call in a script: a tool without arguments, or with them. */
export type PuppetCall =
  | string
  | { readonly name: string; readonly id?: string; readonly arguments?: Record<string, unknown> };

/** An answer that calls tools; ids are `call-1`, `call-2` and so on in each answer, as some servers do. */
export function calls(made: readonly PuppetCall[], rest: AnswerRest = {}): ModelResponse {
  return answers(made.map(callPart), rest);
}

function callPart(call: PuppetCall, index: number): AssistantPart {
  const {
    name,
    id = `call-${index + 1}`,
    arguments: args = {},
  } = typeof call === 'string' ? { name: call } : call;
  return { type: 'tool_call', id, toolName: name, arguments: args };
}

/** A step that answers when it is told to, or never; the request's signal makes it fail as aborted. */
export function waits(until: Promise<ModelResponse>): PuppetStep {
  return (_request, { signal }) =>
    new Promise((resolve, reject) => {
      const abort = () => reject(new AgentError({ kind: 'aborted', message: 'The request was aborted.' }));
      signal?.addEventListener('abort', abort, { once: true });
      until.then(resolve, reject);
    });
}

/** A step that never answers, whatever its signal says. */
export function hangs(): PuppetStep {
  return () => new Promise(() => {});
}

/** A step that fails. */
export function fails(error: unknown): PuppetStep {
  return () => Promise.reject(error);
}

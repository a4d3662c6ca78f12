import type { WireError } from '@cobbler/agent/testing';
import type { ChatCompletionCreateParamsStreaming } from 'openai/resources/chat/completions/completions';
import { isObject } from '../../fields.ts';
import { needsNoEffortForTools, reasons } from '../../models.ts';
import { objects } from '../body.ts';
import { refusal } from '../wire-error.ts';

/**
 * Checks a request for what Chat Completions rejects, with OpenAI's messages. Each rule names where its
 * message was recorded. The mock has no other rules and accepts everything else.
 */
export function refuse(body: unknown): WireError | undefined {
  if (!isObject(body)) return refusal('We could not parse the JSON body of your request.');
  const messages = objects(body['messages']);
  for (const rule of rules) {
    const found = rule(body, messages);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Body = Record<string, unknown>;
type Rule = (body: Body, messages: readonly Body[]) => WireError | undefined;

const rules: readonly Rule[] = [
  /** The form of this message: github.com/1jehuang/jcode/issues/1028. */
  (body) => {
    const unknown = Object.keys(body).find((name) => !Object.hasOwn(parameters, name));
    if (unknown === undefined) return undefined;
    return refusal(`Unknown parameter: '${unknown}'.`, { param: unknown, code: 'unknown_parameter' });
  },
  /** github.com/continuedev/continue/issues/3370 */
  (body) => (isEmptyList(body['tools']) ? emptyArray('tools') : undefined),
  /** github.com/home-assistant/core/pull/118577 */
  (_, messages) => {
    const index = messages.findIndex((message) => isEmptyList(message['tool_calls']));
    return index === -1 ? undefined : emptyArray(`messages[${index}].tool_calls`);
  },
  /** github.com/coinbase/agentkit/pull/217 */
  (body) => {
    const index = objects(body['tools']).findIndex((tool) => {
      return !isObject(tool['function']) || !/^[a-zA-Z0-9_-]+$/.test(String(tool['function']['name']));
    });
    if (index === -1) return undefined;
    const param = `tools[${index}].function.name`;
    const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
    return refusal(message, { param, code: 'invalid_value' });
  },
  /**
   * github.com/camel-ai/camel/issues/2215 has the message with a maximum of 40, github.com/openclaw/openclaw/pull/875
   * with the current 64.
   */
  (_, messages) => {
    for (const [at, message] of messages.entries()) {
      const index = callIds(message).findIndex((id) => id.length > 64);
      if (index === -1) continue;
      const param = `messages[${at}].tool_calls[${index}].id`;
      const length = callIds(message)[index]?.length ?? 0;
      const words = `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`;
      return refusal(words, { param, code: 'string_above_max_length' });
    }
    return undefined;
  },
  /** github.com/langchain-ai/langchainjs/issues/4153 */
  (_, messages) => {
    const index = messages.findIndex(
      (message) => message['content'] === null && callIds(message).length === 0,
    );
    if (index === -1) return undefined;
    const param = `messages.[${index}].content`;
    return refusal("Invalid value for 'content': expected a string, got null.", { param });
  },
  /** github.com/smarter-sh/smarter/issues/264 */
  (_, messages) => {
    const index = messages.findIndex(
      (message, at) => message['role'] === 'tool' && lastCalls(messages, at) === undefined,
    );
    if (index === -1) return undefined;
    const words =
      "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.";
    return refusal(words, { param: `messages.[${index}].role` });
  },
  /** github.com/dapr/dapr-agents/issues/145 */
  (_, messages) => {
    const index = messages.findIndex((message, at) => {
      return (
        message['role'] === 'tool' &&
        lastCalls(messages, at)?.includes(String(message['tool_call_id'])) === false
      );
    });
    if (index === -1) return undefined;
    const id = String(messages[index]?.['tool_call_id']);
    const words = `Invalid parameter: 'tool_call_id' of '${id}' not found in 'tool_calls' of previous message.`;
    return refusal(words, { param: `messages.[${index}].tool_call_id` });
  },
  /** github.com/sdcb/chats/pull/132 */
  (_, messages) => {
    for (const [at, message] of messages.entries()) {
      const open = unansweredIds(messages, at, callIds(message));
      if (open.length === 0) continue;
      const words = `An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. The following tool_call_ids did not have response messages: ${open.join(', ')}`;
      return refusal(words, { param: `messages.[${at + 1}].role` });
    }
    return undefined;
  },
  /** github.com/appatalks/eva-agent/issues/83 */
  (body) => {
    if (body['temperature'] === undefined || !reasons(String(body['model']))) return undefined;
    const message = "Unsupported parameter: 'temperature' is not supported with this model.";
    return refusal(message, { param: 'temperature', code: 'unsupported_parameter' });
  },
  /** github.com/GoogleChromeLabs/webmcp-tools/issues/417; BerriAI/litellm/pull/34569: even if no effort is sent. */
  (body) => {
    const model = String(body['model']);
    if (objects(body['tools']).length === 0 || !needsNoEffortForTools(model)) return undefined;
    if (body['reasoning_effort'] === 'none') return undefined;
    const words = `Function tools with reasoning_effort are not supported for ${model} in /v1/chat/completions. To use function tools, use /v1/responses or set reasoning_effort to 'none'.`;
    return refusal(words, { param: 'reasoning_effort' });
  },
];

function emptyArray(param: string): WireError {
  const message = `Invalid '${param}': empty array. Expected an array with minimum length 1, but got an empty array instead.`;
  return refusal(message, { param, code: 'empty_array' });
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function callIds(message: Body | undefined): string[] {
  return objects(message?.['tool_calls']).map((call) => String(call['id']));
}

/** Returns the calls that a tool message belongs to: those of the message before the consecutive tool messages. */
function lastCalls(messages: readonly Body[], at: number): string[] | undefined {
  const before = messages.slice(0, at).findLast((message) => message['role'] !== 'tool');
  const ids = callIds(before);
  return before?.['role'] === 'assistant' && ids.length > 0 ? ids : undefined;
}

/** Returns the ids of calls without a tool message directly after the message. */
function unansweredIds(messages: readonly Body[], at: number, ids: readonly string[]): string[] {
  const after = messages.slice(at + 1);
  const end = after.findIndex((message) => message['role'] !== 'tool');
  const answered = new Set(
    after.slice(0, end === -1 ? undefined : end).map((message) => message['tool_call_id']),
  );
  return ids.filter((id) => !answered.has(id));
}

/** All parameters; the compiler keeps the list consistent with the SDK. */
const parameters: Readonly<Record<keyof ChatCompletionCreateParamsStreaming, true>> = {
  audio: true,
  frequency_penalty: true,
  function_call: true,
  functions: true,
  logit_bias: true,
  logprobs: true,
  max_completion_tokens: true,
  max_tokens: true,
  messages: true,
  metadata: true,
  modalities: true,
  model: true,
  moderation: true,
  n: true,
  parallel_tool_calls: true,
  prediction: true,
  presence_penalty: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning_effort: true,
  response_format: true,
  safety_identifier: true,
  seed: true,
  service_tier: true,
  stop: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  user: true,
  verbosity: true,
  web_search_options: true,
};

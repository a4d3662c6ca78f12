import type { WireError } from '@cobbler/agent/testing';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import { isObject } from '../../fields.ts';
import { reasons } from '../../models.ts';
import { isSearch } from '../../responses/search.ts';
import { objects } from '../body.ts';
import { refusal } from '../wire-error.ts';
import { decrypt } from './cipher.ts';

/**
 * Checks a request for what the Responses API rejects, with its own messages. Each rule names where its
 * message was recorded. The mock has no other rules and accepts everything else.
 */
export function refuse(body: unknown): WireError | undefined {
  if (!isObject(body)) return refusal('We could not parse the JSON body of your request.');
  const items = objects(body['input']);
  for (const rule of rules) {
    const found = rule(body, items);
    if (found !== undefined) return found;
  }
  return undefined;
}

type Body = Record<string, unknown>;
type Rule = (body: Body, items: readonly Body[]) => WireError | undefined;

const rules: readonly Rule[] = [
  /** The form of this message: github.com/1jehuang/jcode/issues/1028. */
  (body) => {
    const unknown = Object.keys(body).find((name) => !Object.hasOwn(parameters, name));
    return unknown === undefined ? undefined : unknownParameter(unknown);
  },
  /** An output-only field of a reasoning item: github.com/1jehuang/jcode/issues/1028. */
  (_, items) => {
    const index = items.findIndex((item) => item['type'] === 'reasoning' && item['status'] !== undefined);
    return index === -1 ? undefined : unknownParameter(`input[${index}].status`);
  },
  /** github.com/AnswerDotAI/fastllm/issues/45 */
  (_, items) => {
    const index = items.findIndex((item) => lengthOf(item['call_id']) > 64);
    if (index === -1) return undefined;
    const length = lengthOf(items[index]?.['call_id']);
    const param = `input[${index}].call_id`;
    const message = `Invalid '${param}': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`;
    return refusal(message, { param, code: 'string_above_max_length' });
  },
  /** github.com/coinbase/agentkit/pull/217, for Chat Completions; the field is named differently here. */
  (body) => {
    const index = objects(body['tools']).findIndex(
      ({ type, name }) => type !== 'web_search' && !/^[a-zA-Z0-9_-]+$/.test(String(name)),
    );
    if (index === -1) return undefined;
    const param = `tools[${index}].name`;
    const message = `Invalid '${param}': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
    return refusal(message, { param, code: 'invalid_value' });
  },
  /** github.com/OpenHands/software-agent-sdk/issues/1837 */
  (body) => {
    if (body['temperature'] === undefined || !reasons(String(body['model']))) return undefined;
    return refusal("Unsupported parameter: 'temperature' is not supported with this model.", {
      param: 'temperature',
    });
  },
  /** github.com/mavam/pi-web-providers/issues/14 */
  (body) => {
    const format = isObject(body['text']) ? body['text']['format'] : undefined;
    if (!isObject(format) || format['strict'] !== true || !isObject(format['schema'])) return undefined;
    if (format['schema']['additionalProperties'] === false) return undefined;
    const message = `Invalid schema for response_format '${String(format['name'])}': In context=(), 'additionalProperties' is required to be supplied and to be false.`;
    return refusal(message, { param: 'text.format.schema', code: 'invalid_json_schema' });
  },
  /** github.com/vercel/ai/issues/7543 */
  (body, items) => {
    const lost = items.find((item) => item['type'] === 'reasoning' && !hasContent(item));
    if (body['store'] !== false || lost === undefined) return undefined;
    const message = `Item with id '${String(lost['id'])}' not found. Items are not persisted when \`store\` is set to false. Try again with \`store\` set to true, or remove this item from your input.`;
    return refusal(message, { status: 404, param: 'input' });
  },
  /** github.com/smallmain/vscode-unify-chat-provider/issues/178 */
  (_, items) => {
    const forged = items.find((item) => isForged(item['encrypted_content']));
    if (forged === undefined) return undefined;
    const message = `The encrypted content for item ${String(forged['id'])} could not be verified. Reason: Encrypted content could not be decrypted or parsed.`;
    return refusal(message, { code: 'invalid_encrypted_content' });
  },
  /**
   * github.com/continuedev/continue/issues/8933; community.openai.com/t/1308318: a message without an id does not
   * count.
   */
  (_, items) => {
    const alone = items.find((item, index) => item['type'] === 'reasoning' && !isFollowed(items, index));
    if (alone === undefined) return undefined;
    const message = `Item '${String(alone['id'])}' of type 'reasoning' was provided without its required following item.`;
    return refusal(message, { param: 'input' });
  },
  /**
   * github.com/openai/openai-agents-python/issues/722, where each id names its reasoning; the mock accepts any
   * reasoning.
   */
  (_, items) => {
    const index = items.findIndex((item) => isCall(item) && item['id'] !== undefined);
    if (index === -1 || items.slice(0, index).some((item) => item['type'] === 'reasoning')) return undefined;
    const message = `Item '${String(items[index]?.['id'])}' of type 'function_call' was provided without its required 'reasoning' item: 'rs_1'.`;
    return refusal(message, { param: 'input' });
  },
  /** github.com/microsoft/vscode/issues/320060 */
  (_, items) => {
    const stray = items.find(
      (item, index) => isOutput(item) && !isCalled(items.slice(0, index), item['call_id']),
    );
    if (stray === undefined) return undefined;
    const message = `No tool call found for function call output with call_id ${String(stray['call_id'])}.`;
    return refusal(message, { param: 'input' });
  },
  /** github.com/bytedance/trae-agent/issues/245 */
  (_, items) => {
    const open = items.find(
      (item, index) => isCall(item) && !isAnswered(items.slice(index), item['call_id']),
    );
    if (open === undefined) return undefined;
    return refusal(`No tool output found for function call ${String(open['call_id'])}.`, { param: 'input' });
  },
];

function unknownParameter(param: string): WireError {
  return refusal(`Unknown parameter: '${param}'.`, { param, code: 'unknown_parameter' });
}

function lengthOf(value: unknown): number {
  return typeof value === 'string' ? value.length : 0;
}

function hasContent(item: Body): boolean {
  const { encrypted_content: encrypted, content } = item;
  return lengthOf(encrypted) > 0 || (Array.isArray(content) && content.length > 0);
}

function isForged(encrypted: unknown): boolean {
  return typeof encrypted === 'string' && decrypt(encrypted) === undefined;
}

/** Returns true if output of the model follows the reasoning: a message with an id, or a call. */
function isFollowed(items: readonly Body[], index: number): boolean {
  const next = items.slice(index + 1).find((item) => item['type'] !== 'reasoning');
  if (next === undefined) return false;
  return (
    isCall(next) || isSearch(next['type']) || (next['role'] === 'assistant' && typeof next['id'] === 'string')
  );
}

function isCall(item: Body): boolean {
  return item['type'] === 'function_call';
}

function isOutput(item: Body): boolean {
  return item['type'] === 'function_call_output';
}

function isCalled(items: readonly Body[], callId: unknown): boolean {
  return items.some((item) => isCall(item) && item['call_id'] === callId);
}

function isAnswered(items: readonly Body[], callId: unknown): boolean {
  return items.some((item) => isOutput(item) && item['call_id'] === callId);
}

/** All parameters; the compiler keeps the list consistent with the SDK. */
const parameters: Readonly<Record<keyof ResponseCreateParamsStreaming, true>> = {
  access_programs: true,
  background: true,
  context_management: true,
  conversation: true,
  image: true,
  include: true,
  input: true,
  instructions: true,
  max_output_tokens: true,
  max_tool_calls: true,
  metadata: true,
  model: true,
  moderation: true,
  parallel_tool_calls: true,
  previous_response_id: true,
  prompt: true,
  prompt_cache_key: true,
  prompt_cache_options: true,
  prompt_cache_retention: true,
  reasoning: true,
  safety_identifier: true,
  service_tier: true,
  store: true,
  stream: true,
  stream_options: true,
  temperature: true,
  text: true,
  tool_choice: true,
  tools: true,
  top_logprobs: true,
  top_p: true,
  truncation: true,
  user: true,
};

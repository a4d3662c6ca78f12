import type { ScriptAnswer, ScriptBlock, ScriptFault, Step } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import type { ChatCompletionChunk } from 'openai/resources/chat/completions/completions';
import type { CompletionUsage } from 'openai/resources/completions';
import { streamFailure } from '../wire-error.ts';

type Choice = ChatCompletionChunk.Choice;

/** Returns the chunk that starts a response. */
export function begin(answer: ScriptAnswer): readonly ChatCompletionChunk[] {
  return [chunk(answer, [choice({ role: 'assistant', content: '' })])];
}

/** Returns the chunks of one step, and `[DONE]` at the end, which is not a chunk. */
export function line(step: Step, answer: ScriptAnswer): readonly (ChatCompletionChunk | string)[] {
  if (step.type === 'end') {
    return [
      chunk(answer, [choice({}, finishReason(answer))]),
      { ...chunk(answer, []), usage: usageOf(answer) },
      '[DONE]',
    ];
  }
  const block = answer.blocks[step.at];
  const delta = block === undefined ? undefined : deltaOf(step, block, callIndex(answer, step.at));
  return delta === undefined ? [] : [chunk(answer, [choice(delta)])];
}

/** A delta with the reasoning field of compatible servers, which the SDK's types do not have. */
type Delta = ChatCompletionChunk.Choice.Delta & { readonly reasoning_content?: string };

/**
 * Returns the delta of a step. Text and reasoning have neither a start nor an end on this wire, and calls only a
 * start.
 */
function deltaOf(step: Exclude<Step, { type: 'end' }>, block: ScriptBlock, index: number): Delta | undefined {
  if (step.type === 'delta') {
    if (block.type === 'text') return { content: step.text };
    if (block.type === 'reasoning') return { reasoning_content: step.text };
    return { tool_calls: [{ index, function: { arguments: step.text } }] };
  }
  if (step.type !== 'open' || block.type !== 'call') return undefined;
  const called = { name: block.name, arguments: '' };
  return { tool_calls: [{ index, id: block.id, type: 'function', function: called }] };
}

/** Returns the index of a call among the calls. */
function callIndex(answer: ScriptAnswer, at: number): number {
  return answer.blocks.slice(0, at).filter((block) => block.type === 'call').length;
}

function choice(delta: Delta, finish_reason: Choice['finish_reason'] = null): Choice {
  return { index: 0, delta, logprobs: null, finish_reason };
}

function chunk(answer: ScriptAnswer, choices: Choice[]): ChatCompletionChunk {
  return {
    id: 'chatcmpl-1',
    object: 'chat.completion.chunk',
    created: 1_800_000_000,
    model: answer.model,
    choices,
    usage: null,
  };
}

const finishReasons: Partial<Readonly<Record<ScriptAnswer['stop'], Choice['finish_reason']>>> = {
  complete: 'stop',
  tool_use: 'tool_calls',
  max_tokens: 'length',
  refusal: 'content_filter',
};

/** Returns the finish reason. A stop reason that the API does not have is sent as an unknown value. */
function finishReason({ stop }: ScriptAnswer): Choice['finish_reason'] {
  return finishReasons[stop] ?? ('a_reason_from_the_future' as Choice['finish_reason']);
}

/** Returns the usage. Details missing from the script are omitted, as many servers do. */
function usageOf({ usage }: ScriptAnswer): CompletionUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens } = usage;
  return {
    prompt_tokens: inputTokens,
    completion_tokens: outputTokens,
    total_tokens: inputTokens + outputTokens,
    prompt_tokens_details: defined({ cached_tokens: cacheReadTokens, cache_write_tokens: cacheWriteTokens }),
    completion_tokens_details: defined({ reasoning_tokens: reasoningTokens }),
  };
}

/** Returns the chunks of a failure inside a stream: an error object in place of a chunk. */
export function fail(fault: ScriptFault): readonly unknown[] {
  return [{ error: streamFailure(fault) }];
}

/** Returns objects of unknown kinds, and chunks with content of unknown kinds. */
export function unknown(): readonly unknown[] {
  const parts = [{ type: 'hologram', depth: 3 }];
  const delta = (fields: object) => ({ choices: [{ index: 0, delta: fields, finish_reason: null }] });
  const call = { index: 0, id: 'call_1', type: 'function' };
  return [
    delta({ tool_calls: [{ ...call, function: { name: 'put', parameters: '{"value":"once"}' } }] }),
    delta({ tool_calls: [{ ...call, function: { name: 'put', input: { value: 'once' } } }] }),
    delta({ tool_calls: [{ ...call, function: { name: 'put' }, input: { value: 'once' } }] }),
    delta({ hologram: 'from the future' }),
    { choices: [{ index: 0, hologram: { content: 'from the future' }, finish_reason: null }] },
    { hologram: [{ delta: { content: 'from the future' } }], usage: { prompt_tokens: 1 } },
    { object: 'chat.completion.hologram', data: [1] },
    { choices: [{ index: 0, delta: { content: parts }, finish_reason: null }] },
    { choices: [{ index: 0, delta: { audio: { data: 'UklGRg==' } }, finish_reason: null }] },
    { choices: [{ index: 1, delta: { content: 'Another one.' }, finish_reason: null }] },
  ];
}

/** Returns content that a client must tolerate: chunks without a choice, unknown fields, unknown kinds without data. */
export function noise(): readonly unknown[] {
  const empty = { id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_800_000_000 };
  return [
    { ...empty, choices: [], obfuscation: 'q8Zp' },
    { ...empty, choices: [{ index: 0, delta: { hologram: 3 }, finish_reason: null }] },
    { ...empty, choices: [{ index: 0, finish_reason: '' }] },
    { object: 'chat.completion.beat', created: 1_800_000_000 },
    {},
    [],
    null,
  ];
}

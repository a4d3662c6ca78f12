/**
 * Mock wire of the Gemini API, for tests.
 *
 * @module
 */

import type { FoundPart, ProviderTesting, ScriptBlock } from '@cobbler/agent/testing';
import { errorText, mockWire } from '@cobbler/agent/testing';
import { faults, stops } from '../response.ts';
import type { Body, Part } from './rules.ts';
import { problemOf } from './rules.ts';

const chunk = (...parts: Part[]) => [{ candidates: [{ content: { parts, role: 'model' }, index: 0 }] }];

/** The mock of the Gemini API: writes the responses that the wire reads, and reads the requests that it writes. */
export const geminiTesting: ProviderTesting = mockWire<Body>({
  provider: 'gemini',
  framing: 'sse',
  request: {
    path: '/v1beta/models/{model}:streamGenerateContent',
    query: { alt: 'sse' },
    key: { header: 'x-goog-api-key' },
  },
  lacks: {
    interleaving: 'Parts have no numbers: a chunk continues the part before it.',
    'argument-chunks': 'The arguments of a call arrive as one JSON object.',
    'whole-content': 'The service sends each part once.',
    pause: 'The service never pauses a response.',
    'context-full-stop': 'A conversation that is too long is rejected before the response starts.',
    'cache-write-usage': 'The service counts only tokens that it reads from the cache.',
  },
  open: (_at, block) => (block.type === 'call' ? chunk({ functionCall: callOf(block) }) : []),
  delta: (_at, text, { type }) =>
    type === 'call' ? [] : chunk({ text, ...(type === 'reasoning' && { thought: true }) }),
  seal: (_at, thoughtSignature) => chunk({ text: '', thought: true, thoughtSignature }),
  end({ model, stop, usage: { inputTokens, outputTokens, cacheReadTokens, reasoningTokens = 0 } }) {
    const finishReason = errorText(stops, stop === 'tool_use' ? 'complete' : stop) ?? 'SOME_LATER_REASON';
    const usageMetadata = {
      promptTokenCount: inputTokens,
      candidatesTokenCount: outputTokens - reasoningTokens,
      thoughtsTokenCount: reasoningTokens,
      totalTokenCount: inputTokens + outputTokens,
      ...(cacheReadTokens && { cachedContentTokenCount: cacheReadTokens }),
    };
    return [
      { candidates: [{ finishReason, index: 0 }], usageMetadata, modelVersion: model, responseId: 'r-1' },
    ];
  },
  noise: () => [{}, { responseId: 'r-1' }, { weather: {}, degrees: 21 }],
  unknown: () => [
    ...chunk({ inlineData: { mimeType: 'image/png', data: 'iVBORw0KGgo=' } }),
    ...chunk({ text: 'a', ...{ hologram: 'b' } }),
    { candidates: [{ index: 0, hologram: ['from the future'] }] },
    { forecast: 'fair' },
  ],
  error({ kind, message, retryAfterMs }) {
    const text =
      kind === 'too_long'
        ? `The input token count (1200293) exceeds the maximum number of tokens allowed (1048576). ${message}`
        : message;
    const details = retryAfterMs && [
      { '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${retryAfterMs / 1000}s` },
    ];
    const error = {
      message: text,
      status: errorText(faults, kind) ?? 'INVALID_ARGUMENT',
      ...(details && { details }),
    };
    return { body: { error }, ...(kind === 'busy' && { status: 503 }) };
  },
  read({ contents, systemInstruction, tools, toolConfig, generationConfig }) {
    const { responseJsonSchema: schema, maxOutputTokens, temperature } = generationConfig;
    const { title, ...rest } = schema ?? {};
    return {
      // The address contains it.
      model: '',
      system: systemInstruction?.parts.map(({ text = '' }) => text) ?? [],
      tools: (tools?.[0]?.functionDeclarations ?? []).map(
        ({ parametersJsonSchema: parameters, ...tool }) => ({ ...tool, parameters }),
      ),
      toolChoice: toolConfig?.functionCallingConfig.mode === 'NONE' ? 'none' : 'auto',
      turns: contents.map(({ role, parts }) => ({
        side: role === 'user' ? 'user' : 'assistant',
        parts: parts.map(found),
      })),
      maxTokens: maxOutputTokens,
      temperature,
      output: schema && { name: String(title), schema: rest },
    };
  },
  refuse: problemOf,
});

/** Returns a call as the service sends it. Arguments that are no JSON object can only arrive as text. */
function callOf({ id, name, input }: ScriptBlock & { type: 'call' }): NonNullable<Part['functionCall']> {
  return { ...(id !== '' && { id }), name, ...(input !== '' && { args: argumentsOf(input) }) };
}

function argumentsOf(input: string): unknown {
  try {
    const args = JSON.parse(input, (_key, value) => {
      if (Math.abs(value) === Number.POSITIVE_INFINITY) throw new RangeError('JSON has no infinity.');
      return value;
    });
    return typeof args === 'object' && args !== null && !Array.isArray(args) && JSON.stringify(args)
      ? args
      : input;
  } catch {
    return input;
  }
}

function found(part: Part): FoundPart {
  const { text = '', thought, thoughtSignature: seal, inlineData, functionCall, functionResponse } = part;
  if (inlineData) return { type: 'file', mediaType: inlineData.mimeType, data: inlineData.data };
  if (functionCall)
    return { type: 'call', id: functionCall.id ?? '', name: functionCall.name, input: functionCall.args };
  if (functionResponse) {
    const { output, error } = functionResponse.response;
    const parts = [
      { type: 'text' as const, text: error ?? output ?? '' },
      ...(functionResponse.parts ?? []).map(found),
    ];
    return { type: 'result', id: functionResponse.id, parts, isError: error !== undefined };
  }
  return thought ? { type: 'reasoning', text, ...(seal !== undefined && { seal }) } : { type: 'text', text };
}

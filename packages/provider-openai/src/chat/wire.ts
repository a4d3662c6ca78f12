import type { Json, JsonObject } from '@cobbler/agent';
import type { Wire, WireRequest } from '@cobbler/agent/provider';
import type {
  ChatCompletionCreateParamsStreaming,
  ChatCompletionSystemMessageParam,
} from 'openai/resources/chat/completions/completions';
import { cacheFields, takesCacheKey } from '../cache-fields.ts';
import type { OpenAIAddress } from '../endpoint.ts';
import { needsNoEffortForTools, reasons } from '../models.ts';
import { canBeStrict } from '../strict.ts';
import { openaiWire } from '../wire.ts';
import { chatEvent, chatIgnored } from './event.ts';
import { chatTurn } from './turn.ts';

/** Creates the wire of Chat Completions, for OpenAI and compatible servers. */
export function chatWire(address: OpenAIAddress, model: string): Wire {
  const keyed = takesCacheKey(address, 'chat', model);
  return openaiWire(address, model, '/chat/completions', {
    envelope: (request) => ({
      // The body is plain JSON, but the SDK's types do not show it. They check the field names.
      body: chatBody(request, address.official, keyed) as unknown as JsonObject,
      turns: 'messages',
      lead: systemMessages(request) as unknown as Json[],
    }),
    turn: (turn) => chatTurn(turn, address.official),
    event: chatEvent,
    ignored: chatIgnored,
  });
}

function systemMessages(request: WireRequest): ChatCompletionSystemMessageParam[] {
  return request.system.length === 0 ? [] : [{ role: 'system', content: request.system.join('\n\n') }];
}

/**
 * Returns the body without its messages. Fields are assigned one by one, because TypeScript checks their names only
 * then. Compatible servers receive the older `max_tokens`, which all of them support, and no OpenAI-specific fields.
 */
function chatBody(
  request: WireRequest,
  official: boolean,
  keyed: boolean,
): Omit<ChatCompletionCreateParamsStreaming, 'messages'> {
  const body: Omit<ChatCompletionCreateParamsStreaming, 'messages'> = {
    model: request.model,
    stream: true,
    stream_options: { include_usage: true },
  };
  if (official) body.store = false;
  if (keyed) Object.assign(body, cacheFields(request));
  if (request.tools.length > 0) {
    body.tools = request.tools.map((tool) => ({ type: 'function', function: { ...tool } }));
    if (request.toolChoice === 'none') body.tool_choice = 'none';
  }
  if (official && request.tools.length > 0 && needsNoEffortForTools(request.model))
    body.reasoning_effort = 'none';
  else if (request.effort !== undefined && reasons(request.model)) body.reasoning_effort = request.effort;
  if (request.maxTokens !== undefined) {
    if (official) body.max_completion_tokens = request.maxTokens;
    else body.max_tokens = request.maxTokens;
  }
  if (request.temperature !== undefined) body.temperature = request.temperature;
  if (request.output !== undefined) {
    const { name, schema } = request.output;
    body.response_format = {
      type: 'json_schema',
      json_schema: { name, schema, strict: canBeStrict(schema) },
    };
  }
  return body;
}

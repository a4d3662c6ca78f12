import type { JsonObject } from '@cobbler/agent';
import type { FactoryConfig, Wire, WireRequest } from '@cobbler/agent/provider';
import type { ResponseCreateParamsStreaming, Tool } from 'openai/resources/responses/responses';
import type { Reasoning } from 'openai/resources/shared';
import { cacheFields, takesCacheKey } from '../cache-fields.ts';
import type { OpenAIAddress } from '../endpoint.ts';
import { reasons } from '../models.ts';
import { canBeStrict } from '../strict.ts';
import { openaiWire } from '../wire.ts';
import { responsesEvent } from './event.ts';
import { responsesIgnored } from './ignored.ts';
import { responsesTurn } from './turn.ts';

/** Reasoning settings of a request. */
export interface ResponsesOptions {
  /** `auto` requests readable summaries of the reasoning, which are not available to all accounts. Default `auto`. */
  readonly reasoningSummary?: 'auto' | 'off';
}

type ResponsesSettings = ResponsesOptions & Pick<FactoryConfig, 'search'>;

/**
 * Creates the wire of the Responses API without state at the service: nothing is stored, and reasoning is received
 * encrypted and sent back with the next request.
 */
export function responsesWire(address: OpenAIAddress, model: string, options: ResponsesSettings = {}): Wire {
  // OpenAI's other models reject reasoning items; the models of other servers are unknown.
  const thinks = !address.official || reasons(model);
  const keyed = takesCacheKey(address, 'responses', model);
  return openaiWire(address, model, '/responses', {
    // The body is plain JSON, but the SDK's type does not show it. The type checks the field names.
    envelope: (request) => ({
      body: responsesBody(request, options, keyed) as unknown as JsonObject,
      turns: 'input',
    }),
    turn: (turn) => responsesTurn(turn, thinks),
    event: responsesEvent,
    ignored: responsesIgnored,
  });
}

/**
 * Returns the body without its input. Fields are assigned one by one, because TypeScript checks their names only
 * then. The instructions are sent as one string, stable parts first; defaults of the service are omitted.
 */
function responsesBody(
  request: WireRequest,
  options: ResponsesSettings,
  keyed: boolean,
): ResponseCreateParamsStreaming {
  const body: ResponseCreateParamsStreaming = { model: request.model, stream: true, store: false };
  if (keyed) Object.assign(body, cacheFields(request));
  if (request.system.length > 0) body.instructions = request.system.join('\n\n');
  // `strict` defaults to true, which would change the schema and its required fields.
  const tools: Tool[] = request.tools.map((tool) => ({ type: 'function', ...tool, strict: false }));
  if (options.search) {
    tools.unshift({ type: 'web_search' });
    body.max_tool_calls = 10;
  }
  if (tools.length > 0) {
    body.tools = tools;
    if (request.toolChoice === 'none') body.tool_choice = 'none';
  }
  if (reasons(request.model)) {
    body.include = ['reasoning.encrypted_content'];
    const reasoning: Reasoning = {};
    if (request.effort !== undefined) reasoning.effort = request.effort;
    if (options.reasoningSummary !== 'off') reasoning.summary = 'auto';
    body.reasoning = reasoning;
  }
  if (request.maxTokens !== undefined) body.max_output_tokens = request.maxTokens;
  if (request.temperature !== undefined) body.temperature = request.temperature;
  if (request.output !== undefined) {
    const { name, schema } = request.output;
    body.text = { format: { type: 'json_schema', name, schema, strict: canBeStrict(schema) } };
  }
  return body;
}

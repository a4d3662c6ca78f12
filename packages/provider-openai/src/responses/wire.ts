import type { JsonObject } from '@cobbler/agent';
import type { Wire, WireRequest } from '@cobbler/agent/provider';
import type { ResponseCreateParamsStreaming } from 'openai/resources/responses/responses';
import type { Reasoning } from 'openai/resources/shared';
import { cacheFields, cacheOf } from '../cache-fields.ts';
import type { OpenAIAddress } from '../endpoint.ts';
import { endpointOf } from '../endpoint.ts';
import { faultOf } from '../fault.ts';
import { refusedFile } from '../media.ts';
import { providerName, reasons } from '../models.ts';
import { rateLimitHeaders, requestIdHeader } from '../response-headers.ts';
import { canBeStrict } from '../strict.ts';
import { responsesEvent } from './event.ts';
import { responsesTurn } from './turn.ts';

/** Reasoning settings of a request. */
export interface ResponsesOptions {
  /** `auto` asks for readable summaries of the reasoning; some accounts may not have them. Default `auto`. */
  readonly reasoningSummary?: 'auto' | 'off';
}

/**
 * The Responses API without any state at the service: nothing is stored, and reasoning comes encrypted to be
 * sent back with the next request.
 */
export function responsesWire(address: OpenAIAddress, model: string, options: ResponsesOptions = {}): Wire {
  // OpenAI's other models refuse reasoning items; of the models of other servers we know nothing.
  const thinks = !address.official || reasons(model);
  return {
    provider: providerName,
    framing: 'sse',
    endpoint: () => endpointOf(address, '/responses'),
    // The SDK's type is plain JSON without saying so; being typed is what guards the names of the fields.
    envelope: (request) => ({
      body: responsesBody(request, options, address.official) as unknown as JsonObject,
      turns: 'input',
    }),
    turn: (turn) => responsesTurn(turn, thinks),
    event: responsesEvent,
    fault: faultOf,
    // The formats that other servers accept are unknown.
    ...(address.official && { refuses: refusedFile }),
    ...cacheOf(address, model),
    rateLimitHeaders,
    requestIdHeader,
  };
}

/**
 * The body without its input. Fields are assigned one by one, since TypeScript checks their names only then.
 * The instructions go as one text, stable parts first; whatever is a default of the service is left out.
 */
function responsesBody(
  request: WireRequest,
  options: ResponsesOptions,
  official: boolean,
): ResponseCreateParamsStreaming {
  const body: ResponseCreateParamsStreaming = { model: request.model, stream: true, store: false };
  if (official) Object.assign(body, cacheFields(request));
  if (request.system.length > 0) body.instructions = request.system.join('\n\n');
  if (request.tools.length > 0) {
    // `strict` is true when left out, and would then change the schema and what counts as required.
    body.tools = request.tools.map((tool) => ({ type: 'function', ...tool, strict: false }));
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

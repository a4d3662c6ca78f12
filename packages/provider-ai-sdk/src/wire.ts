import type { SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { FilePart, JsonObject } from '@cobbler/agent';
import type { Envelope, Transport, Wire, WireRequest } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';
import type { OpenModel } from './http/model-source.ts';
import { requestIdHeader } from './http/raw-response.ts';
import { callSdk } from './http/sdk-call.ts';
import { sinkFraming } from './http/sink-framing.ts';
import type { ResultFiles } from './request/prompt.ts';
import { writeTurn } from './request/prompt.ts';
import { readFault } from './response/fault.ts';
import { ignored } from './response/response-reader.ts';
import { isSinkCall, utter } from './values/sink-call.ts';

/** Settings from outside the wire. */
export interface AiSdkWireSettings extends EnvelopeSettings {
  readonly provider: string;
  readonly open: OpenModel;
  readonly transport: Transport;
  /** Address for messages only: the SDK knows where it sends requests. */
  readonly baseURL: string;
  readonly secrets?: readonly string[];
  readonly resultFiles?: ResultFiles;
  readonly refuses?: (file: FilePart) => string | undefined;
}

/** Creates a wire for a language model of the AI SDK, always streaming. */
export function aiSdkWire(settings: AiSdkWireSettings): Wire {
  const { provider, open, transport, baseURL, secrets = [], resultFiles = 'inside', refuses } = settings;
  return {
    provider,
    framing: sinkFraming,
    endpoint: { url: baseURL, headers: {}, secrets },
    envelope: (request) => writeEnvelope(request, settings),
    turn: (turn) => writeTurn(turn, resultFiles),
    ...defined({ refuses }),
    event: (payload, out) => {
      if (isSinkCall(payload)) utter(payload, out);
    },
    ignored,
    fault: readFault,
    requestIdHeader,
    rateLimitHeaders: ['anthropic-ratelimit-*', 'x-ratelimit-*', 'retry-after'],
    // The envelope and the turns have produced this body.
    send: (body, { signal }) => callSdk(JSON.parse(decoder.decode(body)), { open, transport, signal }),
  };
}

const decoder = new TextDecoder();

/** The constant parts of the requests of an agent. */
interface EnvelopeSettings {
  readonly providerOptions?: SharedV4ProviderOptions;
  /** True if the name of an output schema is part of the schema, for services without a field for it. */
  readonly titledShapes?: boolean;
}

/** Returns the options of a call without its messages, which follow the instructions. */
function writeEnvelope(request: WireRequest, { providerOptions, titledShapes }: EnvelopeSettings): Envelope {
  const { system, tools, toolChoice, maxTokens, temperature, effort, output } = request;
  const body = {
    ...defined({ maxOutputTokens: maxTokens, temperature, reasoning: effort }),
    ...(output && {
      responseFormat: {
        type: 'json',
        name: output.name,
        schema: titledShapes ? { ...output.schema, title: output.name } : output.schema,
      },
    }),
    ...(tools.length > 0 && {
      tools: tools.map(({ name, description, parameters }) => ({
        type: 'function',
        name,
        description,
        inputSchema: parameters,
        // If it is missing, some services assume true and restrict the schema.
        strict: false,
      })),
      toolChoice: { type: toolChoice },
    }),
    ...defined({ providerOptions }),
  };
  return {
    body: body as unknown as JsonObject,
    turns: 'prompt',
    lead: system.map((content) => ({ role: 'system', content })),
  };
}

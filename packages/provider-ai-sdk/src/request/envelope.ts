import type { LanguageModelV4CallOptions, SharedV4ProviderOptions } from '@ai-sdk/provider';
import type { JsonObject } from '@cobbler/agent';
import type { Envelope, WireRequest } from '@cobbler/agent/provider';
import { defined } from '@cobbler/agent/values';

const decoder = new TextDecoder();

/** The constant parts of an agent's requests. */
export interface EnvelopeSettings {
  readonly providerOptions: SharedV4ProviderOptions | undefined;
  /** True if the name of an output schema is part of the schema, for services without a field for it. */
  readonly titledShapes: boolean;
}

/** The options of a call but its messages, which the kit puts behind the instructions. */
export function writeEnvelope(
  request: WireRequest,
  { providerOptions, titledShapes }: EnvelopeSettings,
): Envelope {
  const { system, tools, toolChoice, maxTokens, temperature, effort, output } = request;
  const body = {
    ...defined({ maxOutputTokens: maxTokens, temperature, reasoning: effort }),
    ...(output !== undefined && {
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
        // Left out, some services take it for true and read the schema in a way of their own.
        strict: false,
      })),
      toolChoice: { type: toolChoice },
    }),
    ...defined({ providerOptions }),
  };
  const lead = system.map((content) => ({ role: 'system', content }));
  return { body: body as unknown as JsonObject, turns: 'prompt', lead };
}

/** The call that a body asks for: the inverse of what {@link writeEnvelope} and the turns make. */
export function readCall(body: Uint8Array): LanguageModelV4CallOptions {
  return JSON.parse(decoder.decode(body)) as LanguageModelV4CallOptions;
}

import type {
  BetaTextBlockParam,
  BetaThinkingConfigParam,
  BetaTool,
  BetaToolUnion,
  MessageCreateParamsStreaming,
} from '@anthropic-ai/sdk/resources/beta/messages';
import type { CacheControlEphemeral } from '@anthropic-ai/sdk/resources/messages';
import type { Json, JsonObject } from '@cobbler/agent';
import type { Envelope, PrefixCache, ToolSpec, WireRequest } from '@cobbler/agent/provider';
import { thinkingTraits } from './models.ts';
import { searchTool } from './search.ts';

/**
 * Thinking mode: with a summary (the default), without showing it, only between tool calls (Sonnet 5.5), disabled
 * (Haiku 5.5 and others that allow it), or `unset`: the field is not sent, for servers that do not know it.
 */
export type Thinking = 'summarized' | 'omitted' | 'between_tools' | 'disabled' | 'unset';

type MessagesBody = Omit<MessageCreateParamsStreaming, 'messages' | 'betas'>;

/**
 * Default maximum number of tokens of a response. Thinking counts too, so 4096 would cut responses short; a much
 * larger value would make a budget reserve money that is rarely used.
 */
export const defaultMaxTokens = 16_384;

const ephemeral = { type: 'ephemeral' } as const;
const lasting = { type: 'ephemeral', ttl: '1h' } as const;

/**
 * Both cache lifetimes with the cost of writing and the maximum cost of reading, which is lower for some models. A
 * turn's bytes end with the closing characters of its last block, of the list and of the message. Source:
 * platform.claude.com/docs/en/build-with-claude/prompt-caching, read on 2026-11-21.
 */
export const claudeCache: PrefixCache = {
  lifetimes: [
    { ms: 300_000, write: 1.25, mark: markText(ephemeral) },
    { ms: 3_600_000, write: 2, mark: markText(lasting) },
  ],
  read: 0.1,
  markBack: 3,
};

/** Returns a cache mark as text to insert into a block. */
function markText(mark: CacheControlEphemeral): string {
  return `,"cache_control":${JSON.stringify(mark)}`;
}

/** The beta header that enables {@link drop}. The service rejects the field without it. */
const bindingBeta = 'thinking-binding-controls-2026-08-01';

/**
 * Thinking is tied to everything before it. After a change, such as a date in the system prompt or a compacted
 * history, the service would reject the conversation permanently; with this setting it drops the thinking instead.
 * Source: platform.claude.com/docs/en/build-with-claude/preserved-thinking.
 */
const drop = { prefix_mismatch_behavior: 'drop_block' } as const;

/** Returns all parts of a request except its turns. */
export function writeEnvelope(request: WireRequest, thinking: Thinking, search = false): Envelope {
  const config = thinkingConfig(request.model, thinking);
  const output = outputConfig(request);
  const body: MessagesBody = {
    model: request.model,
    max_tokens: request.maxTokens ?? defaultMaxTokens,
    stream: true,
  };
  if (config !== undefined) body.thinking = config;
  if (output !== undefined) body.output_config = output;
  const { system, tools } = markedPrefix(request, search);
  if (system.length > 0) body.system = system;
  if (tools.length > 0) {
    body.tools = tools;
    // The default is `auto`. A choice without tools is rejected.
    if (request.toolChoice === 'none') body.tool_choice = { type: 'none' };
  }
  const bound = config !== undefined && 'block_binding' in config;
  return {
    body: body as unknown as JsonObject,
    turns: 'messages',
    ...(bound && { headers: { 'anthropic-beta': bindingBeta } }),
  };
}

function thinkingConfig(model: string, thinking: Thinking): BetaThinkingConfigParam | undefined {
  const { adaptive, binding } = thinkingTraits(model);
  if (!adaptive || thinking === 'unset') return undefined;
  if (thinking === 'disabled' || thinking === 'between_tools') return { type: thinking };
  // Recent models show no thinking unless its summary is requested.
  const shown = { type: 'adaptive', display: thinking } as const;
  return binding ? { ...shown, block_binding: drop } : shown;
}

function outputConfig(request: WireRequest): MessagesBody['output_config'] {
  const config: NonNullable<MessagesBody['output_config']> = {};
  if (request.effort !== undefined && thinkingTraits(request.model).adaptive) config.effort = request.effort;
  if (request.output !== undefined) {
    // The service has no field for the name, but the model also sees a title.
    const { name, schema } = request.output;
    config.format = { type: 'json_schema', schema: { title: name, ...outputSchema(schema) } };
  }
  return Object.keys(config).length === 0 ? undefined : config;
}

/**
 * Returns the system blocks and tools with two of the four cache marks of a request; the turns use the others. The
 * service reads tools, then system, then turns. The marks are at the last two positions in that order, with all tools
 * as one position: after the tools and the system text, or, with several system texts, before and after the last one,
 * which is the one that changes. Without a lifetime there are no marks.
 */
function markedPrefix(
  request: WireRequest,
  search: boolean,
): { system: BetaTextBlockParam[]; tools: BetaToolUnion[] } {
  const system = request.system.map((text): BetaTextBlockParam => ({ type: 'text', text }));
  const tools: BetaToolUnion[] = request.tools.map(writeTool);
  if (search) tools.unshift({ ...searchTool });
  const places = [...tools.slice(-1), ...system];
  const { keepMs = 300_000 } = request;
  const mark = keepMs > 300_000 ? lasting : ephemeral;
  if (keepMs > 0) for (const place of places.slice(-2)) place.cache_control = mark;
  return { system, tools };
}

function writeTool(tool: ToolSpec): BetaTool {
  return {
    name: tool.name,
    description: tool.description,
    input_schema: tool.parameters as unknown as BetaTool['input_schema'],
  };
}

/**
 * String formats and schema keywords that structured outputs support. Source: `transformJSONSchema` of
 * @anthropic-ai/sdk 1.11.0.
 */
const formats: ReadonlySet<Json> = new Set([
  'date-time',
  'time',
  'date',
  'duration',
  'email',
  'hostname',
  'uri',
  'ipv4',
  'ipv6',
  'uuid',
]);
const plain: ReadonlySet<string> = new Set(['type', 'enum', 'const', 'description', 'title', 'required']);

/**
 * Converts a schema to the form that the service accepts: objects are closed, and unsupported constraints move to the
 * description for the model. The caller validates them in the response.
 */
export function outputSchema(schema: JsonObject): JsonObject {
  const strict: JsonObject = {};
  const untold: string[] = [];
  for (const [key, value] of Object.entries(schema)) {
    const kept = keep(key, value);
    if (kept !== undefined) strict[key === 'oneOf' ? 'anyOf' : key] = kept;
    else if (key !== '$schema' && key !== 'additionalProperties')
      untold.push(`${key}: ${JSON.stringify(value)}`);
  }
  if (schema['type'] === 'object') strict['additionalProperties'] = false;
  if (untold.length > 0) {
    const own = typeof strict['description'] === 'string' ? [strict['description']] : [];
    strict['description'] = [...own, `{${untold.join(', ')}}`].join('\n\n');
  }
  return strict;
}

/** Returns the value to send for a keyword, or undefined if the service does not accept it. */
function keep(key: string, value: Json): Json | undefined {
  if (plain.has(key) || key === '$ref') return value;
  if (key === 'items') return inner(value);
  if (key === 'properties' || key === '$defs') return mapSchemas(value);
  if (key === 'anyOf' || key === 'oneOf' || key === 'allOf')
    return Array.isArray(value) ? value.map(inner) : undefined;
  if (key === 'minItems') return value === 0 || value === 1 ? value : undefined;
  if (key === 'format') return formats.has(value) ? value : undefined;
  return undefined;
}

function inner(value: Json): Json {
  return isJsonObject(value) ? outputSchema(value) : value;
}

function mapSchemas(value: Json): Json {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, schema]) => [name, inner(schema)]));
}

function isJsonObject(value: Json): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

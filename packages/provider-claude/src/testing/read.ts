import type {
  ContentBlockParam,
  DocumentBlockParam,
  ImageBlockParam,
  MessageCreateParamsStreaming,
  MessageParam,
  ToolResultBlockParam,
} from '@anthropic-ai/sdk/resources/messages';
import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { searchTool } from '../search.ts';
import { sealOf } from './signature.ts';

/** Parses a request into the neutral form. The rules have already rejected requests that a provider must not send. */
export function read(value: unknown): ReadRequest {
  const body = value as MessageCreateParamsStreaming;
  if (body.stream !== true) throw new Error('The request does not set "stream".');
  const format = body.output_config?.format;
  return {
    model: body.model,
    system: textOf(body.system),
    turns: body.messages.map(readTurn),
    tools: (body.tools ?? [])
      .filter((tool) => !('type' in tool && tool.type === searchTool.type))
      .map(readTool),
    toolChoice: body.tool_choice?.type === 'none' ? 'none' : 'auto',
    maxTokens: body.max_tokens,
    ...(format != null && { output: readShape(format.schema) }),
  };
}

/** Reads an output schema, whose name is sent as the title of the schema. */
function readShape({ title, ...schema }: Record<string, unknown>): NonNullable<ReadRequest['output']> {
  return { name: String(title), schema };
}

function readTurn(message: MessageParam): ReadRequest['turns'][number] {
  if (message.role === 'system') throw new Error('The turns contain a system message.');
  const { content } = message;
  const parts: ReadPart[] =
    typeof content === 'string'
      ? [{ type: 'text', text: content }]
      : content.filter(({ type }) => !ofService.has(type)).map(readBlock);
  return { side: message.role, parts };
}

/** The types of the blocks of searches, which the neutral form does not have. */
const ofService: ReadonlySet<string> = new Set(['server_tool_use', 'web_search_tool_result']);

function readBlock(block: ContentBlockParam): ReadPart {
  switch (block.type) {
    case 'text':
      return { type: 'text', text: block.text };
    case 'image':
    case 'document':
      return readFile(block);
    case 'thinking':
      return withSeal(block.thinking, sealOf(block.signature));
    case 'redacted_thinking':
      return { type: 'reasoning', text: '', seal: block.data };
    case 'tool_use':
      return { type: 'call', id: block.id, name: block.name, input: block.input };
    case 'tool_result':
      return readResult(block);
    default:
      throw new Error(`The request contains a block of type ${block.type}.`);
  }
}

function withSeal(text: string, seal: string | undefined): ReadPart {
  return { type: 'reasoning', text, ...defined({ seal }) };
}

function readFile(block: ImageBlockParam | DocumentBlockParam): ReadPart {
  const { source, type } = block;
  if (source.type === 'base64') return { type: 'file', mediaType: source.media_type, data: source.data };
  if (source.type === 'text')
    return { type: 'file', mediaType: source.media_type, data: encodeText(source.data) };
  throw new Error(`A ${type} has a source of type ${source.type}.`);
}

function encodeText(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

function readResult(block: ToolResultBlockParam): ReadPart {
  return {
    type: 'result',
    id: block.tool_use_id,
    text: textOf(block.content),
    isError: block.is_error === true,
  };
}

/** Joins the texts of instructions or of a result with blank lines. */
function textOf(content: string | readonly { readonly type: string }[] | undefined): string {
  if (content === undefined || typeof content === 'string') return content ?? '';
  return content
    .flatMap((block) => ('text' in block && typeof block.text === 'string' ? [block.text] : []))
    .join('\n\n');
}

function readTool(
  tool: NonNullable<MessageCreateParamsStreaming['tools']>[number],
): ReadRequest['tools'][number] {
  if (!('input_schema' in tool)) throw new Error(`A tool of type ${tool.type} is a server tool.`);
  return { name: tool.name, description: tool.description ?? '', parameters: tool.input_schema };
}

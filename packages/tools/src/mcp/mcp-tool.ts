import type { Tool, ToolContext, ToolOutput, ToolResultPart } from '@cobbler/agent';
import { defineTool, toolOutput } from '@cobbler/agent';
import { checkSchema, isBase64, isObject } from '@cobbler/agent/provider';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import type { McpConnection } from './connection.ts';
import type { ListedTool } from './listed-tool.ts';
import { plainText, truncate } from './plain-text.ts';

/** Minimum interval between two progress updates that are passed on, in milliseconds. */
const progressEveryMs = 100;

const maxProgress = 300;

/** Converts a tool of a server to a Cobbler tool. */
export function mcpTool(connection: McpConnection, listed: ListedTool, now: () => number): Tool {
  const { ownName, name, description, schema, parameters, effect, mayRepeat, trusted } = listed;
  const tool = defineTool<Record<string, unknown>>({
    name,
    description,
    parameters,
    effect,
    mayRepeat,
    untrusted: !trusted,
    sends: !trusted && effect !== 'read',
    // The executor enforces the time limit; the connection's own limit is only for direct calls.
    timeoutMs: connection.callMs,
    subject: (args) => JSON.stringify(args),
    execute: async (args, context) => {
      const { signal } = context;
      return resultOutput(
        await connection.call(ownName, args, { signal, onProgress: progressTo(context, now) }),
      );
    },
  });
  return {
    ...tool,
    validate: async (args) => {
      const problem = await checkSchema(schema, args);
      return problem === undefined ? { ok: true, value: args } : { ok: false, problem };
    },
  };
}

/** Returns a progress callback that drops updates which arrive too fast. */
function progressTo(context: ToolContext, now: () => number): (progress: Progress) => void {
  let last = Number.NEGATIVE_INFINITY;
  return ({ progress, total, message }) => {
    const isLast = total !== undefined && progress >= total;
    if (now() - last < progressEveryMs && !isLast) return;
    last = now();
    const share = total === undefined ? String(progress) : `${progress}/${total}`;
    context.progress(message === undefined ? share : `${share} ${truncate(plainText(message), maxProgress)}`);
  };
}

/** Maximum number of base64 characters of images and documents in one result. */
const maxMedia = 8_388_608;

/** Maximum number of parts of one result; a server can send any number. */
const maxParts = 100;

/** Image types that models accept. */
const imageTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

/** Converts the result of a call: text, images and PDFs; other parts are described. */
function resultOutput(result: Readonly<Record<string, unknown>>): ToolOutput {
  const given = Array.isArray(result['content']) ? result['content'] : [];
  const room = { left: maxMedia };
  const parts = given.slice(0, maxParts).flatMap((item) => partsOf(item, room));
  if (given.length > maxParts) parts.push(text(`[further parts omitted: ${given.length - maxParts}]`));
  const data = result['structuredContent'] ?? (given.length === 0 ? result['toolResult'] : undefined);
  // A server that follows the protocol also sends the data as text.
  if (data !== undefined && !parts.some((part) => part.type === 'text'))
    parts.push(text(JSON.stringify(data)));
  return toolOutput({ content: parts, isError: result['isError'] === true });
}

type Room = { left: number };

function partsOf(item: unknown, room: Room): ToolResultPart[] {
  if (!isObject(item)) return [];
  switch (item['type']) {
    case 'text':
      return typeof item['text'] === 'string' ? [text(item['text'])] : [];
    case 'image':
    case 'audio':
      return [media(item['mimeType'], item['data'], String(item['type']), room)];
    case 'resource':
      return isObject(item['resource']) ? resource(item['resource'], room) : [];
    case 'resource_link':
      return [text(`[${[item['uri'], item['name'], item['description']].filter(isText).join(' · ')}]`)];
    default:
      return [text(`[a part of type ${String(item['type'])}, which is not supported]`)];
  }
}

function resource(item: Readonly<Record<string, unknown>>, room: Room): ToolResultPart[] {
  const uri = isText(item['uri']) ? item['uri'] : 'a resource';
  if (isText(item['text'])) return [text(`[${uri}]\n${item['text']}`)];
  return [text(`[${uri}]`), media(item['mimeType'], item['blob'], 'resource', room)];
}

function media(type: unknown, data: unknown, word: string, room: Room): ToolResultPart {
  const mediaType = isText(type) ? (type.split(';')[0]?.trim().toLowerCase() ?? '') : '';
  const base64 = isText(data) ? data.replace(/\s/g, '') : '';
  const what = `${word}${mediaType === '' ? '' : ` of type ${mediaType}`}, ${Math.ceil(base64.length * 0.75)} bytes`;
  if (!imageTypes.has(mediaType) && mediaType !== 'application/pdf')
    return text(`[${what}: not supported by models]`);
  if (!isBase64(base64)) return text(`[${what}: it is not base64]`);
  if (base64.length > room.left) return text(`[${what}: too large together with the other parts]`);
  room.left -= base64.length;
  return { type: 'file', mediaType, data: base64 };
}

function text(value: string): ToolResultPart {
  return { type: 'text', text: value };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

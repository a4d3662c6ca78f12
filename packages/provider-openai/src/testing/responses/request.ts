import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { isSearch } from '../../responses/search.ts';
import { list, numberOrNothing, object, readArguments, readDataURL, schema, text } from '../body.ts';
import type { TurnPart } from '../turns.ts';
import { turnsOf } from '../turns.ts';
import { decrypt } from './cipher.ts';

/** Parses a request body. Throws if it would store the conversation or does not request a stream. */
export function read(body: unknown): ReadRequest {
  const request = object(body, 'the body');
  if (request['store'] !== false)
    throw new TypeError('store must be false: the service must not store the conversation');
  if (request['stream'] !== true) throw new TypeError('stream must be true');
  const format =
    request['text'] === undefined
      ? undefined
      : object(object(request['text'], 'text')['format'], 'text.format');
  return {
    model: text(request['model'], 'model'),
    system: request['instructions'] === undefined ? '' : text(request['instructions'], 'instructions'),
    turns: turnsOf(
      list(request['input'], 'input')
        .filter(({ type }) => !isSearch(type))
        .map(readItem),
    ),
    tools: list(request['tools'] ?? [], 'tools')
      .filter(({ type }) => type !== 'web_search')
      .map(readTool),
    toolChoice: request['tool_choice'] === 'none' ? 'none' : 'auto',
    ...defined({
      maxTokens: numberOrNothing(request['max_output_tokens']),
      temperature: numberOrNothing(request['temperature']),
      output: format && { name: text(format['name'], 'text.format.name'), schema: format['schema'] },
    }),
  };
}

function readTool(tool: Record<string, unknown>, index: number): ReadRequest['tools'][number] {
  const place = `tools[${index}]`;
  if (tool['type'] !== 'function') throw new TypeError(`${place} must be a function`);
  // `strict` defaults to true, with which the service would change the schema.
  if (tool['strict'] !== false) throw new TypeError(`${place}.strict must be false`);
  return {
    name: text(tool['name'], `${place}.name`),
    description: text(tool['description'], `${place}.description`),
    parameters: schema(tool['parameters'], `${place}.parameters`),
  };
}

function readItem(item: Record<string, unknown>, index: number): TurnPart {
  const place = `input[${index}]`;
  switch (item['type']) {
    case 'message':
      return readMessage(item, place);
    case 'reasoning':
      return { side: 'assistant', parts: [readReasoning(item, place)] };
    case 'function_call': {
      const name = text(item['name'], `${place}.name`);
      const input = readArguments(item['arguments'], `${place}.arguments`);
      return {
        side: 'assistant',
        parts: [{ type: 'call', id: text(item['call_id'], `${place}.call_id`), name, input }],
      };
    }
    case 'function_call_output':
      return { side: 'user', parts: readOutput(item, place) };
    default:
      throw new TypeError(`${place}.type is ${String(item['type'])}, which Cobbler never sends`);
  }
}

function readMessage(item: Record<string, unknown>, place: string): TurnPart {
  const role = text(item['role'], `${place}.role`);
  if (role !== 'user' && role !== 'assistant') throw new TypeError(`${place}.role is ${role}`);
  const content = item['content'];
  if (typeof content === 'string') return { side: role, parts: [{ type: 'text', text: content }] };
  return { side: role, parts: list(content, `${place}.content`).map((part) => readContent(part, place)) };
}

function readContent(part: Record<string, unknown>, place: string): ReadPart {
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: text(part['text'], `${place}.text`) };
    case 'input_image':
      return { type: 'file', ...readDataURL(part['image_url'], `${place}.image_url`) };
    case 'input_file':
      text(part['filename'], `${place}.filename`);
      return { type: 'file', ...readDataURL(part['file_data'], `${place}.file_data`) };
    default:
      throw new TypeError(`${place} contains a part of type ${String(part['type'])}`);
  }
}

function readReasoning(item: Record<string, unknown>, place: string): ReadPart {
  const summary = list(item['summary'], `${place}.summary`).map((part) =>
    text(part['text'], `${place}.summary`),
  );
  const encrypted = item['encrypted_content'];
  const seal = typeof encrypted === 'string' ? decrypt(encrypted) : undefined;
  return { type: 'reasoning', text: summary.join('\n\n'), ...defined({ seal }) };
}

/** Reads the text of a result; its other content becomes parts of the turn. The API has no error flag. */
function readOutput(item: Record<string, unknown>, place: string): ReadPart[] {
  const output = item['output'];
  const parts =
    typeof output === 'string'
      ? [{ type: 'text' as const, text: output }]
      : list(output, `${place}.output`).map((part) => readContent(part, `${place}.output`));
  const joined = parts.map((part) => (part.type === 'text' ? part.text : '')).join('');
  const id = text(item['call_id'], `${place}.call_id`);
  return [
    { type: 'result', id, text: joined, isError: false },
    ...parts.filter((part) => part.type !== 'text'),
  ];
}

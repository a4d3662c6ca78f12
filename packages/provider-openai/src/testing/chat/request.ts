import type { ReadPart, ReadRequest } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { list, numberOrNothing, object, readArguments, readDataURL, schema, text } from '../body.ts';
import type { TurnPart } from '../turns.ts';
import { turnsOf } from '../turns.ts';

/** Parses a request body. Throws if it does not request a stream and its usage. */
export function read(body: unknown): ReadRequest {
  const request = object(body, 'the body');
  if (request['stream'] !== true) throw new TypeError('stream must be true');
  const options = object(request['stream_options'], 'stream_options');
  if (options['include_usage'] !== true) throw new TypeError('stream_options.include_usage must be true');
  const messages = list(request['messages'], 'messages');
  const instructions = messages.filter((message) => message['role'] === 'system');
  if (messages.slice(0, instructions.length).some((message) => message['role'] !== 'system')) {
    throw new TypeError('messages must start with the system message');
  }
  const shape = request['response_format'] === undefined ? undefined : readShape(request['response_format']);
  const limit = numberOrNothing(request['max_completion_tokens']) ?? numberOrNothing(request['max_tokens']);
  return {
    model: text(request['model'], 'model'),
    system: instructions
      .map((message, index) => text(message['content'], `messages[${index}].content`))
      .join('\n\n'),
    turns: turnsOf(messages.slice(instructions.length).map((message, index) => readMessage(message, index))),
    tools: list(request['tools'] ?? [], 'tools').map(readTool),
    toolChoice: request['tool_choice'] === 'none' ? 'none' : 'auto',
    ...defined({ maxTokens: limit, temperature: numberOrNothing(request['temperature']), output: shape }),
  };
}

function readShape(format: unknown): NonNullable<ReadRequest['output']> {
  const shape = object(object(format, 'response_format')['json_schema'], 'response_format.json_schema');
  return { name: text(shape['name'], 'response_format.json_schema.name'), schema: shape['schema'] };
}

function readTool(tool: Record<string, unknown>, index: number): ReadRequest['tools'][number] {
  const place = `tools[${index}]`;
  if (tool['type'] !== 'function') throw new TypeError(`${place} must be a function`);
  const declared = object(tool['function'], `${place}.function`);
  return {
    name: text(declared['name'], `${place}.function.name`),
    description: text(declared['description'], `${place}.function.description`),
    parameters: schema(declared['parameters'], `${place}.function.parameters`),
  };
}

function readMessage(message: Record<string, unknown>, index: number): TurnPart {
  const place = `messages[${index}]`;
  const { role, content } = message;
  if (role === 'assistant') return { side: 'assistant', parts: readAnswer(message, place) };
  if (role === 'tool') {
    const id = text(message['tool_call_id'], `${place}.tool_call_id`);
    return {
      side: 'user',
      parts: [{ type: 'result', id, text: text(content, `${place}.content`), isError: false }],
    };
  }
  if (role !== 'user') throw new TypeError(`${place}.role is ${String(role)}`);
  if (typeof content === 'string') return { side: 'user', parts: [{ type: 'text', text: content }] };
  return { side: 'user', parts: list(content, `${place}.content`).map((part) => readContent(part, place)) };
}

function readAnswer(message: Record<string, unknown>, place: string): ReadPart[] {
  const { content, tool_calls: calls } = message;
  const textParts: ReadPart[] =
    content === null ? [] : [{ type: 'text', text: text(content, `${place}.content`) }];
  const called = list(calls ?? [], `${place}.tool_calls`).map((call): ReadPart => {
    const given = object(call['function'], `${place}.tool_calls.function`);
    return {
      type: 'call',
      id: text(call['id'], `${place}.tool_calls.id`),
      name: text(given['name'], `${place}.tool_calls.function.name`),
      input: readArguments(given['arguments'], `${place}.tool_calls.function.arguments`),
    };
  });
  return [...textParts, ...called];
}

function readContent(part: Record<string, unknown>, place: string): ReadPart {
  switch (part['type']) {
    case 'text':
      return { type: 'text', text: text(part['text'], `${place}.text`) };
    case 'image_url':
      return {
        type: 'file',
        ...readDataURL(object(part['image_url'], place)['url'], `${place}.image_url.url`),
      };
    case 'input_audio': {
      const audio = object(part['input_audio'], `${place}.input_audio`);
      const format = text(audio['format'], `${place}.input_audio.format`);
      const mediaType = format === 'mp3' ? 'audio/mpeg' : 'audio/wav';
      return { type: 'file', mediaType, data: text(audio['data'], `${place}.input_audio.data`) };
    }
    case 'file': {
      const file = object(part['file'], `${place}.file`);
      text(file['filename'], `${place}.file.filename`);
      return { type: 'file', ...readDataURL(file['file_data'], `${place}.file.file_data`) };
    }
    default:
      throw new TypeError(`${place} contains a part of type ${String(part['type'])}`);
  }
}

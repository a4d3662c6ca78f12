import type { UserPart } from '@cobbler/agent';
import type { TranscriptBuilder } from '@cobbler/agent/transcripts';
import type { Fields } from './fields.ts';
import { isObject, textIn } from './fields.ts';

/** Returns the parts of content in either API, which is a string or a list of parts. */
export function contentParts(content: unknown): readonly Fields[] {
  if (typeof content === 'string') return [{ type: 'text', text: content }];
  return Array.isArray(content) ? content.filter(isObject) : [];
}

/** Reads the content of a user message or a tool output in either API. */
export function readContent(built: TranscriptBuilder, content: unknown, place: string): UserPart[] {
  return contentParts(content).map((part) => readPart(built, part, place));
}

function readPart(built: TranscriptBuilder, part: Fields, place: string): UserPart {
  const inner = isObject(part['image_url']) ? part['image_url'] : part;
  switch (part['type']) {
    case 'text':
    case 'input_text':
    case 'output_text':
      return { type: 'text', text: textIn(part, 'text') };
    case 'image_url':
      return readFile(built, 'image', textIn(inner, 'url'), place);
    case 'input_image':
      return readFile(built, 'image', textIn(part, 'image_url') || textIn(part, 'file_id'), place);
    case 'file':
    case 'input_file': {
      const file = isObject(part['file']) ? part['file'] : part;
      const found = ['file_data', 'file_url', 'file_id'].map((name) => textIn(file, name)).find(Boolean);
      return readFile(built, 'document', found ?? '', place, textIn(file, 'filename'));
    }
    default: {
      built.loss(
        place,
        `contains a part of type ${JSON.stringify(part['type'])}; only its type would be kept, as text`,
      );
      return { type: 'text', text: `(${String(part['type'])})` };
    }
  }
}

/** Reads a file from its data URL; otherwise only its address can be stored. */
function readFile(
  built: TranscriptBuilder,
  type: 'image' | 'document',
  address: string,
  place: string,
  name = '',
): UserPart {
  const found = /^data:([\w.+-]+\/[\w.+-]+);base64,([A-Za-z0-9+/=]*)$/.exec(address);
  if (found === null) {
    built.loss(place, `refers to ${type === 'image' ? 'an image' : 'a document'} without containing it`);
    return { type: 'text', text: `(${type}: ${name === '' ? address : name})` };
  }
  const [, mediaType = '', data = ''] = found;
  return { type: 'file', mediaType, data, ...(name !== '' && { name }) };
}

/** Reads the arguments of a call, which are JSON text in both APIs, and reports invalid ones. */
export function readArguments(
  built: TranscriptBuilder,
  text: unknown,
  place: string,
): { arguments: Record<string, unknown>; problem?: string } {
  try {
    const value: unknown = JSON.parse(typeof text === 'string' && text.trim() !== '' ? text : '{}');
    if (isObject(value)) return { arguments: value };
  } catch {
    // Reported below, like JSON that is not an object.
  }
  built.problem(place, 'contains a call whose arguments are not a JSON object');
  return { arguments: {}, problem: 'The arguments were not a JSON object.' };
}

import { currentParts } from '../values/file-part.ts';
import type { Reader } from '../values/input.ts';
import { any, data, invalid, listOf, record, text } from '../values/input.ts';
import { isObject } from '../values/json.ts';
import type { AssistantPart, UserPart } from '../values/message.ts';
import { frozen } from '../values/owned.ts';

const seal: Reader<unknown> = record({ provider: text, data }, ['provider', 'data']);

const textPart: Reader<unknown> = record({ text }, ['text']);

type PartReaders = Readonly<Record<string, Reader<unknown>>>;

const userParts: PartReaders = {
  text: textPart,
  file: record<Record<'mediaType' | 'data' | 'name', string>>({ mediaType: text, data: text, name: text }, [
    'mediaType',
    'data',
  ]),
};

const assistantParts: PartReaders = {
  text: textPart,
  reasoning: record({ text, seal }, ['text']),
  opaque: record({ seal }, ['seal']),
  tool_call: record({ id: text, toolName: text, arguments: any, problem: text, seal }, ['id', 'toolName']),
};

/** Reads the content of a message of the user or a tool, from plain data. Fields that are not known are kept. */
export const userContent: Reader<readonly UserPart[]> = contentOf(userParts);

/** Reads the content of a response, from plain data. */
export const assistantContent: Reader<readonly AssistantPart[]> = contentOf(assistantParts);

function contentOf<Part>(kinds: PartReaders): Reader<readonly Part[]> {
  const parts = listOf((part) => {
    if (!isObject(part)) throw invalid(part, 'Use a part such as { type: "text", text }');
    const { type } = part;
    const reader = typeof type === 'string' && Object.hasOwn(kinds, type) ? kinds[type] : undefined;
    if (reader === undefined) throw invalid(type, partAdvice(type, kinds), '.type');
    reader(part);
    return part as Part;
  }, 'a string or an array of parts');
  return (value) => {
    const given = typeof value === 'string' ? [{ type: 'text', text: value }] : value;
    return parts(Array.isArray(given) ? frozen(currentParts(given)) : given);
  };
}

function partAdvice(type: unknown, kinds: PartReaders): string {
  if (/call|tool_use/.test(String(type)) && 'tool_call' in kinds)
    return 'Use { type: "tool_call", id, toolName, arguments }';
  if (/result/.test(String(type))) return 'Use a separate message with role "tool_result"';
  if (/image|document|audio/.test(String(type)) && 'file' in kinds)
    return 'Use { type: "file", mediaType, data } with data in base64';
  return `Use "${Object.keys(kinds).join('" or "')}"`;
}

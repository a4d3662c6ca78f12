import type { AssistantPart, Json } from '@cobbler/agent';
import type { TranscriptFormat } from '@cobbler/agent/transcripts';
import type { Fields } from '../fields.ts';
import { isObject, objectsIn, textIn } from '../fields.ts';
import { providerName } from '../models.ts';
import type { TranscriptEntry } from '../transcript-format.ts';
import { readMessage, transcriptFormat } from '../transcript-format.ts';
import { contentParts, readArguments, readContent } from '../transcript-part.ts';
import { messageHead, responsesTurn } from './turn.ts';

/** The format of Responses API conversations: a request body, or only its `input`. */
export const responsesTranscripts: TranscriptFormat = transcriptFormat({
  name: 'OpenAI Responses',
  field: 'input',
  // One response consists of several items.
  joins: true,
  isOwn: (item) =>
    /^message$|^reasoning$|_/.test(textIn(item, 'type')) ||
    objectsIn(item, 'content').some(({ type }) => ownParts.has(type)),
  read: readItem,
  turn: (turn) => responsesTurn(turn, true),
});

const ownParts: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'input_image', 'input_file']);

function readItem(entry: TranscriptEntry): void {
  const { built, value, place, next } = entry;
  switch (value['type'] ?? 'message') {
    case 'message':
      return readMessage(entry, () => answerParts(value));
    case 'reasoning':
      if (!isObject(next) || isUsers(next)) built.problem(place, 'is reasoning that no item follows');
      return built.assistant(place, [reasoning(value)]);
    case 'function_call':
      return built.assistant(place, [readCall(entry)]);
    case 'function_call_output': {
      const content = readContent(built, value['output'], place);
      return built.result(place, { toolCallId: textIn(value, 'call_id'), content });
    }
    default:
      // The service accepts its own items back unchanged.
      return built.assistant(place, [opaquePart(value)]);
  }
}

function readCall({ built, value: item, place }: TranscriptEntry): AssistantPart {
  return {
    type: 'tool_call',
    id: textIn(item, 'call_id'),
    toolName: textIn(item, 'name'),
    ...readArguments(built, item['arguments'], place),
    ...(typeof item['id'] === 'string' && { seal: { provider: providerName, data: { id: item['id'] } } }),
  };
}

/** Returns true if an item is not part of the model's response. */
function isUsers(item: Fields): boolean {
  if (item['type'] === 'function_call_output') return true;
  return (item['type'] ?? 'message') === 'message' && item['role'] !== 'assistant';
}

/** Returns the text of a response, after the other content of the item. */
function answerParts(item: Fields): AssistantPart[] {
  const head = messageHead({ ...item, type: 'message' });
  const text = contentParts(item['content'])
    .map((part) => textIn(part, part['type'] === 'refusal' ? 'refusal' : 'text'))
    .join('');
  const isKept = head?.id !== undefined || head?.phase !== undefined;
  return [...(isKept ? [opaquePart({ ...head })] : []), { type: 'text', text }];
}

function reasoning(item: Fields): AssistantPart {
  const text = objectsIn(item, 'summary')
    .map((part) => textIn(part, 'text'))
    .join('\n\n');
  return { type: 'reasoning', text, seal: { provider: providerName, data: item as { [key: string]: Json } } };
}

function opaquePart(data: Fields): AssistantPart {
  return { type: 'opaque', seal: { provider: providerName, data: data as { [key: string]: Json } } };
}

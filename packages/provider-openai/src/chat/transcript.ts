import type { AssistantPart } from '@cobbler/agent';
import type { TranscriptFormat } from '@cobbler/agent/transcripts';
import type { Fields } from '../fields.ts';
import { fieldsOf, objectsIn, textIn } from '../fields.ts';
import type { TranscriptEntry } from '../transcript-format.ts';
import { readMessage, transcriptFormat } from '../transcript-format.ts';
import { contentParts, readArguments, readContent } from '../transcript-part.ts';
import { chatTurn } from './turn.ts';

/** The format of Chat Completions conversations: a request body, or only its `messages`. */
export const chatTranscripts: TranscriptFormat = transcriptFormat({
  name: 'Chat Completions',
  field: 'messages',
  // The service expects results directly after the message with the calls.
  joins: false,
  isOwn: (message) =>
    ownRoles.has(message['role']) ||
    message['tool_calls'] !== undefined ||
    objectsIn(message, 'content').some(({ type }) => ownParts.has(type)),
  read(entry) {
    const { built, value, place } = entry;
    if (value['role'] !== 'tool') return readMessage(entry, () => answerParts(entry));
    const toolCallId = textIn(value, 'tool_call_id');
    built.result(place, { toolCallId, content: readContent(built, value['content'], place) });
  },
  turn: chatTurn,
});

const ownRoles: ReadonlySet<unknown> = new Set(['system', 'developer', 'tool']);
const ownParts: ReadonlySet<unknown> = new Set(['image_url', 'input_audio', 'file', 'refusal']);

function answerParts({ built, value: message, place }: TranscriptEntry): AssistantPart[] {
  const textParts = contentParts(message['content'] === '' ? null : message['content']);
  const { tool_calls: calls } = message;
  if (Array.isArray(calls) && calls.length === 0) built.problem(place, 'contains an empty list of calls');
  return [
    ...textParts.map((part): AssistantPart => {
      const name = part['type'] === 'refusal' ? 'refusal' : 'text';
      return { type: 'text', text: textIn(part, name) };
    }),
    ...objectsIn(message, 'tool_calls').map((call) => readCall(call, { built, place })),
  ];
}

function readCall(call: Fields, { built, place }: Pick<TranscriptEntry, 'built' | 'place'>): AssistantPart {
  const given = fieldsOf(call['function']);
  if (call['function'] === undefined)
    built.loss(
      place,
      `contains a call of type ${JSON.stringify(call['type'])}; only its type would be kept, as the name of the tool`,
    );
  const toolName = textIn(given, 'name') || textIn(call, 'type');
  const args = readArguments(built, given['arguments'], place);
  return { type: 'tool_call', id: textIn(call, 'id'), toolName, ...args };
}

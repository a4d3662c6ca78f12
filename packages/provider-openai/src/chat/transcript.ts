import type { AssistantPart, Json } from '@cobbler/agent';
import type { Transcript, TranscriptFormat } from '@cobbler/agent/provider';
import { TranscriptBuilder, writeTurns } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { isFields, objectsIn, textIn } from '../fields.ts';
import { providerName } from '../models.ts';
import { contentParts, readArguments, readContent } from '../transcript-part.ts';
import { chatTurn } from './turn.ts';

/** The format of Chat Completions conversations: a request body, or only its `messages`. */
export const chatTranscripts: TranscriptFormat = {
  name: 'Chat Completions',
  match(value) {
    const messages = messagesOf(value);
    return messages?.filter((message) => isFields(message) && isOwn(message)).length;
  },
  read(value) {
    const read = new ChatTranscript();
    const messages = messagesOf(value) ?? [];
    const lead = leadOf(messages).length;
    for (const [at, message] of messages.entries()) {
      if (at >= lead) read.message(message, `messages[${at}]`);
    }
    return read.done();
  },
  write(value, messages) {
    const lead = leadOf(messagesOf(value) ?? []) as readonly Json[];
    const written = [...lead, ...writeTurns(messages, providerName, chatTurn)];
    return Array.isArray(value) || !isFields(value) ? written : ({ ...value, messages: written } as Json);
  },
};

const ownRoles: ReadonlySet<unknown> = new Set(['system', 'developer', 'tool']);
const ownParts: ReadonlySet<unknown> = new Set(['image_url', 'input_audio', 'file', 'refusal']);

function isOwn(message: Fields): boolean {
  if (ownRoles.has(message['role']) || message['tool_calls'] !== undefined) return true;
  return objectsIn(message, 'content').some(({ type }) => ownParts.has(type));
}

function messagesOf(value: unknown): readonly unknown[] | undefined {
  const messages = isFields(value) ? value['messages'] : value;
  return Array.isArray(messages) ? messages : undefined;
}

/** Returns the instructions, which come before the conversation and stay unchanged. */
function leadOf(messages: readonly unknown[]): readonly unknown[] {
  const first = messages.findIndex((message) => !isFields(message) || !isInstruction(message));
  return first === -1 ? messages : messages.slice(0, first);
}

function isInstruction({ role }: Fields): boolean {
  return role === 'system' || role === 'developer';
}

class ChatTranscript {
  // The service expects results directly after the message with the calls.
  readonly #built = new TranscriptBuilder({ joins: false });

  message(value: unknown, place: string): void {
    const built = this.#built;
    if (!isFields(value)) return built.problem(place, 'is not a message');
    const { role, content } = value;
    if (role === 'assistant') return built.assistant(place, this.#answer(value, place));
    if (role === 'tool') {
      const toolCallId = textIn(value, 'tool_call_id');
      return built.result(place, { toolCallId, content: readContent(built, content, place) });
    }
    if (role !== 'user' && !isInstruction(value))
      return built.problem(place, `has the role ${JSON.stringify(role)}`);
    if (role !== 'user') built.loss(place, 'is a system message; it would become a user message');
    built.user(place, readContent(built, content, place));
  }

  done(): Transcript {
    return this.#built.done();
  }

  #answer(message: Fields, place: string): AssistantPart[] {
    const said = contentParts(message['content'] === '' ? null : message['content']);
    const { tool_calls: calls } = message;
    if (Array.isArray(calls) && calls.length === 0)
      this.#built.problem(place, 'contains an empty list of calls');
    return [
      ...said.map((part): AssistantPart => {
        const name = part['type'] === 'refusal' ? 'refusal' : 'text';
        return { type: 'text', text: textIn(part, name) };
      }),
      ...objectsIn(message, 'tool_calls').map((call) => this.#call(call, place)),
    ];
  }

  #call(call: Fields, place: string): AssistantPart {
    const given = isFields(call['function']) ? call['function'] : {};
    if (call['function'] === undefined)
      this.#built.loss(
        place,
        `contains a call of type ${JSON.stringify(call['type'])}; only its name would be kept`,
      );
    const toolName = textIn(given, 'name') || textIn(call, 'type');
    const args = readArguments(this.#built, given['arguments'], place);
    return { type: 'tool_call', id: textIn(call, 'id'), toolName, ...args };
  }
}

import type { AssistantPart, Json } from '@cobbler/agent';
import type { Transcript, TranscriptFormat } from '@cobbler/agent/provider';
import { TranscriptBuilder, writeTurns } from '@cobbler/agent/provider';
import type { Fields } from '../fields.ts';
import { isFields, objectsIn, textIn } from '../fields.ts';
import { providerName } from '../models.ts';
import { contentParts, readArguments, readContent } from '../transcript-part.ts';
import { messageHead, responsesTurn } from './turn.ts';

/** The format of Responses API conversations: a request body, or only its `input`. */
export const responsesTranscripts: TranscriptFormat = {
  name: 'OpenAI Responses',
  match(value) {
    if (isFields(value) && typeof value['input'] === 'string') return 1;
    const items = itemsOf(value);
    return items?.filter((item) => isFields(item) && isOwn(item)).length;
  },
  read(value) {
    const read = new ResponsesTranscript();
    const items = itemsOf(value) ?? [];
    const lead = leadOf(items).length;
    for (const [at, item] of items.entries()) {
      if (at >= lead) read.item(item, `input[${at}]`, items[at + 1]);
    }
    return read.done();
  },
  write(value, messages) {
    const lead = leadOf(itemsOf(value) ?? []) as readonly Json[];
    const turns = writeTurns(messages, providerName, (turn) => responsesTurn(turn, true));
    const written = [...lead, ...turns];
    return Array.isArray(value) || !isFields(value) ? written : ({ ...value, input: written } as Json);
  },
};

const ownParts: ReadonlySet<unknown> = new Set(['input_text', 'output_text', 'input_image', 'input_file']);

function isOwn(item: Fields): boolean {
  const { type } = item;
  if (typeof type === 'string' && (type === 'message' || type === 'reasoning' || type.includes('_')))
    return true;
  return objectsIn(item, 'content').some((part) => ownParts.has(part['type']));
}

function itemsOf(value: unknown): readonly unknown[] | undefined {
  const input = isFields(value) ? value['input'] : value;
  if (typeof input === 'string') return [{ role: 'user', content: input }];
  return Array.isArray(input) ? input : undefined;
}

/** Returns the instructions, which come before the conversation and stay unchanged. */
function leadOf(items: readonly unknown[]): readonly unknown[] {
  const first = items.findIndex((item) => !isFields(item) || !isInstruction(item));
  return first === -1 ? items : items.slice(0, first);
}

function isInstruction({ role }: Fields): boolean {
  return role === 'system' || role === 'developer';
}

class ResponsesTranscript {
  // One response consists of several items.
  readonly #built = new TranscriptBuilder({ joins: true });

  item(value: unknown, place: string, next: unknown): void {
    const built = this.#built;
    if (!isFields(value)) return built.problem(place, 'is not an item');
    switch (value['type'] ?? 'message') {
      case 'message':
        return this.#message(value, place);
      case 'reasoning':
        if (!isFields(next) || isUsers(next)) built.problem(place, 'is reasoning without a following item');
        return built.assistant(place, [reasoning(value)]);
      case 'function_call':
        return built.assistant(place, [this.#call(value, place)]);
      case 'function_call_output': {
        const content = readContent(built, value['output'], place);
        return built.result(place, { toolCallId: textIn(value, 'call_id'), content });
      }
      default:
        // The service accepts its own items back unchanged.
        return built.assistant(place, [sealed(value)]);
    }
  }

  done(): Transcript {
    return this.#built.done();
  }

  #message(item: Fields, place: string): void {
    const { role, content } = item;
    if (role === 'assistant') return this.#built.assistant(place, answerParts(item));
    if (role !== 'user' && !isInstruction(item))
      return this.#built.problem(place, `has the role ${JSON.stringify(role)}`);
    if (role !== 'user') this.#built.loss(place, 'is a system message; it would become a user message');
    this.#built.user(place, readContent(this.#built, content, place));
  }

  #call(item: Fields, place: string): AssistantPart {
    return {
      type: 'tool_call',
      id: textIn(item, 'call_id'),
      toolName: textIn(item, 'name'),
      ...readArguments(this.#built, item['arguments'], place),
      ...(typeof item['id'] === 'string' && { seal: { provider: providerName, data: { id: item['id'] } } }),
    };
  }
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
  return [...(isKept ? [sealed({ ...head })] : []), { type: 'text', text }];
}

function reasoning(item: Fields): AssistantPart {
  const text = objectsIn(item, 'summary')
    .map((part) => textIn(part, 'text'))
    .join('\n\n');
  return { type: 'reasoning', text, seal: { provider: providerName, data: item as { [key: string]: Json } } };
}

function sealed(data: Fields): AssistantPart {
  return { type: 'opaque', seal: { provider: providerName, data: data as { [key: string]: Json } } };
}

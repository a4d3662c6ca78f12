import type { AssistantPart, Json, UserPart } from '@cobbler/agent';
import type { Transcript, TranscriptFormat } from '@cobbler/agent/transcripts';
import { checkedFormat, TranscriptBuilder, writeTurns } from '@cobbler/agent/transcripts';
import type { Fields } from './fields.ts';
import { fieldsOf, isFields, listOf, textOf } from './fields.ts';
import { acceptedFiles, refusedFile } from './media.ts';
import { writeTurn } from './turn.ts';

/** The format of Messages API conversations: a request body, or only its `messages`. */
export const claudeTranscripts: TranscriptFormat = checkedFormat({
  name: 'Claude Messages',
  match(value) {
    const messages = messagesOf(value);
    if (messages === undefined) return undefined;
    const blocks = messages.flatMap((message) => listOf(fieldsOf(message)['content']).map(fieldsOf));
    const own = blocks.filter(({ type, source }) => ownBlocks.has(type) || isFields(source)).length;
    return own + (fieldsOf(value)['system'] === undefined ? 0 : 1);
  },
  read(value) {
    const read = new ClaudeTranscript();
    for (const [at, message] of (messagesOf(value) ?? []).entries()) read.message(message, `messages[${at}]`);
    return read.done();
  },
  write(value, messages) {
    const written = writeTurns(messages, 'claude', writeTurn);
    return Array.isArray(value) ? written : ({ ...fieldsOf(value), messages: written } as Json);
  },
});

const ownBlocks: ReadonlySet<unknown> = new Set(['tool_use', 'tool_result', 'thinking', 'redacted_thinking']);

function messagesOf(value: unknown): readonly unknown[] | undefined {
  if (Array.isArray(value)) return value;
  const messages = fieldsOf(value)['messages'];
  return Array.isArray(messages) ? messages : undefined;
}

/** Reads messages one by one and reports the problems that the service would reject (its rules are in testing/rules.ts). */
class ClaudeTranscript {
  readonly #built = new TranscriptBuilder({ joins: true, files: acceptedFiles, refuses: refusedFile });
  readonly #ids = new Set<string>();
  #isFirst = true;

  message(value: unknown, place: string): void {
    if (!isFields(value)) return this.#built.problem(place, 'is not a message');
    const { role, content } = value;
    if (this.#isFirst && role === 'assistant')
      this.#built.problem(place, 'is the first message, but is not from the user');
    this.#isFirst = false;
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(fieldsOf);
    if (role === 'assistant') this.#assistant(blocks, place);
    else if (role === 'user') this.#user(blocks, place);
    else if (role === 'system') this.#system(blocks, place);
    else this.#built.problem(place, `has the role ${JSON.stringify(role)}`);
  }

  done(): Transcript {
    return this.#built.done();
  }

  #system(blocks: readonly Fields[], place: string): void {
    this.#built.loss(place, 'is a system message; it would become a user message');
    this.#user(blocks, place);
  }

  /** Reads a user message, tool results first, because the service expects them before other content. */
  #user(blocks: readonly Fields[], place: string): void {
    const results = blocks.filter(({ type }) => type === 'tool_result');
    const others = blocks.filter(({ type }) => type !== 'tool_result');
    const firstOther = blocks.findIndex(({ type }) => type !== 'tool_result');
    if (results.length > 0 && firstOther !== -1 && firstOther < results.length)
      this.#built.problem(place, 'contains a tool result after other content');
    for (const block of results) this.#result(block, place);
    if (others.length > 0 || blocks.length === 0) this.#built.user(place, this.#contents(others, place));
  }

  #assistant(blocks: readonly Fields[], place: string): void {
    const responseBlocks = blocks.filter(({ type }) => type !== 'tool_result');
    this.#built.assistant(
      place,
      responseBlocks.flatMap((block) => this.#answerPart(block, place)),
    );
    for (const block of blocks) {
      if (block['type'] !== 'tool_result') continue;
      this.#built.problem(place, 'contains a tool result, but is from the assistant');
      this.#result(block, place);
    }
  }

  #result(block: Fields, place: string): void {
    const { content } = block;
    const blocks =
      typeof content === 'string' ? [{ type: 'text', text: content }] : listOf(content).map(fieldsOf);
    this.#built.result(place, {
      toolCallId: textOf(block['tool_use_id']),
      content: this.#contents(blocks, place),
      ...(block['is_error'] === true && { isError: true }),
    });
  }

  #contents(blocks: readonly Fields[], place: string): UserPart[] {
    return blocks.flatMap((block) => this.#content(block, place) ?? []);
  }

  #content(block: Fields, place: string): UserPart | undefined {
    switch (block['type']) {
      case 'text':
        return this.#text(block, place);
      case 'image':
      case 'document':
        return this.#file(block, place);
      case 'tool_use':
        this.#built.problem(place, 'contains a tool call, but is from the user');
        return undefined;
      default:
        this.#built.loss(
          place,
          `contains a block of type ${JSON.stringify(block['type'])}; it would be omitted`,
        );
        return undefined;
    }
  }

  #text(block: Fields, place: string): UserPart {
    const text = textOf(block['text']);
    if (text !== '' && text.trim() === '')
      this.#built.problem(place, 'has a text block that contains only whitespace');
    for (const name of ['cache_control', 'citations'])
      if (block[name] != null) this.#built.loss(place, `contains ${name}; it would be omitted`);
    return { type: 'text', text };
  }

  #file(block: Fields, place: string): UserPart {
    const source = fieldsOf(block['source']);
    const mediaType = textOf(source['media_type']);
    const data = textOf(source['data']);
    const name = typeof block['title'] === 'string' ? { name: block['title'] } : {};
    if (source['type'] === 'base64') return { type: 'file', mediaType, data, ...name };
    if (source['type'] === 'text') return { type: 'file', mediaType, data: base64(data), ...name };
    const kind = String(block['type']);
    this.#built.loss(
      place,
      `refers to ${kind === 'image' ? 'an image' : 'a document'} without containing it`,
    );
    return { type: 'text', text: `(${kind}: ${textOf(source['url']) || textOf(source['file_id'])})` };
  }

  #answerPart(block: Fields, place: string): AssistantPart[] {
    switch (block['type']) {
      case 'text':
        return [this.#text(block, place) as AssistantPart];
      case 'thinking':
        return this.#thinking(block, place);
      case 'tool_use':
        return [this.#call(block, place)];
      default:
        // The service accepts any block of its own turns back unchanged.
        return [{ type: 'opaque', seal: { provider: 'claude', data: block as { [key: string]: Json } } }];
    }
  }

  #thinking(block: Fields, place: string): AssistantPart[] {
    const signature = textOf(block['signature']);
    if (signature === '') {
      this.#built.problem(place, 'contains a thinking block without a signature');
      return [];
    }
    return [
      {
        type: 'reasoning',
        text: textOf(block['thinking']),
        seal: { provider: 'claude', data: { signature } },
      },
    ];
  }

  #call(block: Fields, place: string): AssistantPart {
    const id = textOf(block['id']);
    if (!/^[a-zA-Z0-9_-]+$/.test(id))
      this.#built.problem(
        place,
        `contains a call with the id ${JSON.stringify(id)}, which no service accepts`,
      );
    else if (this.#ids.has(id)) this.#built.problem(place, `reuses the call id ${JSON.stringify(id)}`);
    this.#ids.add(id);
    return {
      type: 'tool_call',
      id,
      toolName: textOf(block['name']),
      arguments: block['input'] as Record<string, unknown>,
    };
  }
}

function base64(text: string): string {
  return btoa(Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join(''));
}

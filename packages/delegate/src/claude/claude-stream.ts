import type { BackendEvent } from '../events/backend-event.ts';
import type { Fields } from '../events/fields.ts';
import { fieldsOf, listOf, objectIn, textOf } from '../events/fields.ts';
import { garbled } from '../events/garbled.ts';
import { claudeName, readClaudeMessage } from './claude-line.ts';

/** Messages of Claude Code that hold none of the response, with the reasons. */
export const ignoredMessages: Readonly<Record<string, string>> = {
  auth_status: 'the state of the sign-in',
  control_cancel_request: 'a request that needs no decision any longer',
  control_response: 'the receipt of a message to the program',
  keep_alive: 'it keeps the connection alive',
  prompt_suggestion: 'a suggestion for the next prompt',
  rate_limit_event: 'the state of the account',
  system: 'the state of the program; the subtypes that matter are read',
  tool_progress: 'the time a call has taken so far',
  tool_use_summary: 'a summary of calls, which are reported one by one',
};

/** Blocks of a response that only Claude Code needs, with the reasons. */
export const ignoredBlocks: Readonly<Record<string, string>> = {
  redacted_thinking: 'encrypted thinking, which Claude Code keeps in its own conversation',
  compaction: 'a summary that replaces the start of its own conversation',
  fallback: 'a note that another model responded',
};

const known: ReadonlySet<unknown> = new Set([
  'assistant',
  'user',
  'stream_event',
  'result',
  'control_request',
  ...Object.keys(ignoredMessages),
]);

const readBlocks: ReadonlySet<unknown> = new Set([
  'text',
  'thinking',
  'tool_use',
  ...Object.keys(ignoredBlocks),
]);

/** A block as it was streamed. */
interface StreamedBlock {
  readonly type: string;
  readonly id: string;
  text: string;
}

/**
 * Reads the messages of one run of Claude Code and checks that none is missing: blocks arrive in chunks and as a whole,
 * calls arrive with their results, and every message has its own id.
 */
export class ClaudeStream {
  readonly #ids: Set<string> = new Set();
  readonly #calls: Set<string> = new Set();
  readonly #done: Set<string> = new Set();
  #answer = '';
  /** The ids of the responses that were streamed, and of those that arrived as a whole. */
  readonly #streamedIds: Set<string> = new Set();
  readonly #wholeIds: Set<string> = new Set();
  /** The streamed blocks of the current response that have not arrived as a whole. */
  #blocks: StreamedBlock[] = [];
  #hasSession = false;
  /** Set by the result; a message of the same turn must not follow it. */
  #isOver = false;
  #isNextTurn = false;

  /** Reads a line of output. Other output than messages is ignored. */
  line(line: string): readonly BackendEvent[] {
    const message = objectIn(line);
    return message === undefined ? [] : this.message(message);
  }

  message(message: Fields): readonly BackendEvent[] {
    const id = textOf(message['uuid']);
    if (id !== '' && this.#ids.has(id)) return [];
    this.#ids.add(id);
    if (typeof message['parent_tool_use_id'] === 'string') return [];
    this.#isNextTurn ||= this.#isOver && message['subtype'] === 'init';
    if (this.#isNextTurn) return [];
    const isContent = ['assistant', 'user', 'stream_event'].includes(textOf(message['type']));
    const problem = this.#isOver && isContent ? 'it continued after its result' : this.#problem(message);
    if (problem !== undefined) return [garbled(claudeName, problem)];
    const { type } = message;
    this.#isOver ||= type === 'result';
    if (typeof type === 'string' && !known.has(type)) return [notice(type)];
    const events = readClaudeMessage(message);
    this.#hasSession ||= events.some((event) => event.type === 'session');
    const session = textOf(message['session_id']);
    // The id of the conversation is in every message.
    if (type !== 'result' || this.#hasSession || session === '') return events;
    return [{ type: 'session', id: session }, ...events];
  }

  #problem(message: Fields): string | undefined {
    switch (message['type']) {
      case 'stream_event':
        return this.#streamed(fieldsOf(message['event']));
      case 'assistant':
        return message['is_api_error_message'] === true
          ? undefined
          : this.#whole(fieldsOf(message['message']));
      case 'user':
        return message['isReplay'] === true ? undefined : this.#results(fieldsOf(message['message']));
      case 'result':
        return message['subtype'] === 'success' && message['is_error'] !== true ? this.#ended() : undefined;
      default:
        return undefined;
    }
  }

  #streamed({ type, message, content_block: start, delta }: Fields): string | undefined {
    if (type === 'message_start') {
      // A response that was cut off is requested again.
      this.#blocks = [];
      this.#answer = textOf(fieldsOf(message)['id']);
      if (this.#wholeIds.has(this.#answer)) return 'a response arrived before its start';
      this.#streamedIds.add(this.#answer);
    }
    if (type === 'content_block_start') {
      const block = fieldsOf(start);
      this.#blocks.push({
        type: textOf(block['type']),
        id: textOf(block['id']),
        text: textOf(block['text']),
      });
    }
    if (type !== 'content_block_delta') return undefined;
    const { text, thinking } = fieldsOf(delta);
    const said = textOf(text) + textOf(thinking);
    const block = this.#blocks.at(-1);
    if (said !== '' && block?.type !== (textOf(text) === '' ? 'thinking' : 'text'))
      return 'a chunk belongs to no block';
    if (block !== undefined) block.text += said;
    return undefined;
  }

  #whole({ id, content }: Fields): string | undefined {
    // Without partial messages, blocks arrive only as a whole.
    const isStreamed = this.#answer !== '' && id === this.#answer;
    if (!isStreamed && this.#streamedIds.has(textOf(id))) return 'a response continued after the next one';
    if (!isStreamed) this.#blocks = [];
    this.#wholeIds.add(textOf(id));
    for (const block of listOf(content).map(fieldsOf)) {
      const type = textOf(block['type']);
      if (!readBlocks.has(type) && !/_tool_(use|result)$/.test(type))
        return `it contains a block of the unknown type ${type}`;
      if (type === 'tool_use') this.#calls.add(textOf(block['id']));
      if (!isStreamed) continue;
      const streamed = this.#blocks.shift();
      const isSame =
        streamed?.type === type &&
        (type !== 'text' || isSameText(streamed.text, textOf(block['text']))) &&
        (type !== 'tool_use' || streamed.id === block['id']);
      if (!isSame) return 'a streamed and a complete block of a response differ';
    }
    return undefined;
  }

  #results({ content }: Fields): string | undefined {
    for (const block of listOf(content).map(fieldsOf)) {
      if (block['type'] !== 'tool_result') continue;
      const id = textOf(block['tool_use_id']);
      if (!this.#calls.has(id)) return `the call ${id} has a result, but was not reported`;
      this.#done.add(id);
    }
    return undefined;
  }

  #ended(): string | undefined {
    const open = [...this.#calls].find((id) => !this.#done.has(id));
    if (open !== undefined) return `the result of the call ${open} is missing`;
    const lost = this.#blocks.find(({ type, text }) => type === 'tool_use' || text.trim() !== '');
    return lost === undefined ? undefined : `a block of type ${lost.type} was not reported as a whole`;
  }
}

/** Claude Code trims texts, and a key is removed only where it stands in one piece. */
function isSameText(streamed: string, whole: string): boolean {
  return whole.includes('[key]') || streamed.trim() === whole.trim();
}

function notice(type: string): BackendEvent {
  return { type: 'notice', text: `Claude Code sent a message of the unknown type ${type}.` };
}

import type { BackendEvent } from '../events/backend-event.ts';
import type { Fields } from '../events/fields.ts';
import { fieldsOf, holdsData, listOf, objectIn, textOf } from '../events/fields.ts';
import { malformedEnd, TurnEnd, unreadable, wrongField } from '../events/garbled.ts';
import { claudeName } from './claude-environment.ts';
import { claudeEvents } from './claude-line.ts';

/** Types of messages with content of a response. */
const contentTypes: readonly unknown[] = ['assistant', 'user', 'stream_event'];

/** Types of all known messages. */
const known: ReadonlySet<unknown> = new Set([
  ...contentTypes,
  'result',
  'control_request',
  // The others hold none of the response.
  'auth_status', // The state of the sign-in.
  'control_cancel_request', // A request that needs no decision any longer.
  'control_response', // The receipt of a message to the program.
  'keep_alive', // It keeps the connection alive.
  'prompt_suggestion', // A suggestion for the next prompt.
  'rate_limit_event', // The state of the account.
  'system', // The state of the program; the subtypes that matter are read.
  'tool_progress', // The time a call has taken so far.
  'tool_use_summary', // A summary of calls, which are reported one by one.
]);

/** Types of known blocks of a response. The last three are needed only by Claude Code. */
const knownBlocks = /^(text|thinking|tool_use|.*_tool_(use|result)|redacted_thinking|compaction|fallback)$/;

/** The fields with the content of known blocks and chunks. */
const contentFields: ReadonlyMap<unknown, Readonly<Record<string, 'string' | 'object'>>> = new Map<
  unknown,
  Readonly<Record<string, 'string' | 'object'>>
>([
  ['text', { text: 'string' }],
  ['thinking', { thinking: 'string' }],
  ['tool_use', { id: 'string', name: 'string', input: 'object' }],
  ['tool_result', { tool_use_id: 'string' }],
  ['text_delta', { text: 'string' }],
  ['thinking_delta', { thinking: 'string' }],
]);

/** The fields of the result of a call that hold none of its output. */
const resultFields = /^(type|tool_use_id|is_error|cache_control)$/;

/** A block as it was streamed. */
interface StreamedBlock {
  readonly type: string;
  readonly id: unknown;
  text: string;
}

/**
 * Reads the messages of one run of Claude Code and checks that none is missing: blocks arrive in chunks and as a whole,
 * calls arrive with their results, and every message has its own id.
 */
export class ClaudeStream {
  readonly #ids: Set<string> = new Set();
  /** The calls so far, and those that have a result. */
  readonly #calls: Set<string> = new Set();
  readonly #done: Set<string> = new Set();
  /** The calls that subagents made. */
  readonly #innerCalls: Set<string> = new Set();
  readonly #end: TurnEnd = new TurnEnd();
  #answer = '';
  /** The ids of the responses that were streamed, and of those that arrived as a whole. */
  readonly #streamedIds: Set<string> = new Set();
  readonly #wholeIds: Set<string> = new Set();
  /** The streamed blocks of the current response that have not arrived as a whole. */
  #blocks: StreamedBlock[] = [];
  #hasSession = false;

  /** Reads a line of output. Other output than messages is ignored. */
  line(line: string): readonly BackendEvent[] {
    const message = objectIn(line);
    return message === undefined ? unreadable(claudeName, line) : this.message(message);
  }

  message(message: Fields): readonly BackendEvent[] {
    const { type, subtype, session_id: session, parent_tool_use_id: parent } = message;
    const uuid = textOf(message['uuid']);
    if (uuid !== '' && this.#ids.has(uuid)) return [];
    if (typeof parent === 'string') return this.#subagent(parent, message);
    this.#ids.add(uuid);
    if (this.#end.isNextTurn(subtype === 'init')) return [];
    const problem = this.#end.problem(contentTypes.includes(type)) ?? this.#problem(message);
    if (problem !== undefined) return [malformedEnd(claudeName, problem)];
    this.#end.isOver ||= type === 'result';
    if (typeof type === 'string' && !known.has(type))
      return [{ type: 'notice', text: `Claude Code sent a message of unknown type ${type}.` }];
    const events = claudeEvents(message);
    this.#hasSession ||= events.some((event) => event.type === 'session');
    const id = textOf(session);
    // The id of the conversation is in every message.
    return type !== 'result' || this.#hasSession || id === '' ? events : [{ type: 'session', id }, ...events];
  }

  /** Skips a message of a subagent, which the call with this id started. */
  #subagent(call: string, message: Fields): readonly BackendEvent[] {
    const known = this.#calls.has(call) || this.#innerCalls.has(call);
    for (const { type, id } of listOf(fieldsOf(message['message'])['content']).map(fieldsOf))
      if (type === 'tool_use') this.#innerCalls.add(textOf(id));
    return known ? [] : [malformedEnd(claudeName, `a message belongs to the unknown call ${call}`)];
  }

  #problem(message: Fields): string | undefined {
    const body = fieldsOf(message['message']);
    if (typeof message['type'] !== 'string') return holdsData(message) ? 'a message has no type' : undefined;
    switch (message['type']) {
      case 'stream_event':
        return this.#checkStreamed(fieldsOf(message['event']));
      case 'assistant':
        return message['is_api_error_message'] === true ? undefined : this.#checkWhole(body);
      case 'user':
        return message['isReplay'] === true ? undefined : this.#results(body);
      case 'result':
        return message['subtype'] === 'success' && message['is_error'] !== true
          ? this.#checkEnd()
          : undefined;
      default:
        return undefined;
    }
  }

  #checkStreamed({ type, message, content_block: start, delta }: Fields): string | undefined {
    if (typeof type !== 'string') return 'a part of a response has no type';
    if (type === 'message_start') {
      // A response that was cut off is requested again.
      this.#blocks = [];
      this.#answer = textOf(fieldsOf(message)['id']);
      // A gateway may give several responses the same id.
      if (this.#wholeIds.has(this.#answer) && !this.#streamedIds.has(this.#answer))
        return 'content arrived before its response started';
      this.#streamedIds.add(this.#answer);
    }
    if (type === 'content_block_start') {
      const block = fieldsOf(start);
      this.#blocks.push({ type: textOf(block['type']), id: block['id'], text: textOf(block['text']) });
    }
    if (type !== 'content_block_delta') return undefined;
    const { type: kind, text, thinking } = fieldsOf(delta);
    const wrong = wrongField(fieldsOf(delta), contentFields.get(kind));
    if (typeof kind !== 'string' || wrong !== undefined) return 'a chunk cannot be read';
    const newText = textOf(text) + textOf(thinking);
    const block = this.#blocks.at(-1);
    if (newText !== '' && block?.type !== (textOf(text) === '' ? 'thinking' : 'text'))
      return 'a chunk belongs to no block';
    if (block !== undefined) block.text += newText;
    return undefined;
  }

  #checkWhole({ id: given, content }: Fields): string | undefined {
    const id = textOf(given);
    // Without partial messages, blocks arrive only as a whole.
    const isStreamed = id !== '' && id === this.#answer;
    if (!isStreamed && this.#streamedIds.has(id)) return 'a response continued after the next one started';
    if (!isStreamed) this.#blocks = [];
    this.#wholeIds.add(id);
    if (!Array.isArray(content)) return 'the content of a response is not a list';
    for (const block of content.map(fieldsOf)) {
      const { type, id: callId, text } = block;
      const wrong = wrongField(block, contentFields.get(type));
      if (wrong !== undefined) return `a block of type ${String(type)} has no valid ${wrong}`;
      if (!knownBlocks.test(textOf(type))) return `it contains a block of unknown type ${textOf(type)}`;
      if (type === 'tool_use') this.#calls.add(textOf(callId));
      const streamed = isStreamed ? this.#blocks.shift() : { type, id: callId, text: textOf(text) };
      const isSame =
        streamed?.type === type &&
        (type !== 'text' || isSameText(streamed?.text ?? '', textOf(text))) &&
        (type !== 'tool_use' || streamed?.id === callId);
      if (!isSame) return 'a complete block differs from the stream';
    }
    return undefined;
  }

  #results({ content }: Fields): string | undefined {
    // A text is a prompt, not a result.
    if (typeof content === 'string') return undefined;
    if (!Array.isArray(content)) return 'the content of a message is not a list';
    for (const block of content.map(fieldsOf)) {
      if (typeof block['type'] !== 'string') return 'a block has no type';
      if (block['type'] !== 'tool_result') continue;
      if (!isReadable(block)) return 'the result of a call cannot be read';
      const id = textOf(block['tool_use_id']);
      if (!this.#calls.has(id)) return `call ${id} has a result but was never reported`;
      this.#done.add(id);
    }
    return undefined;
  }

  #checkEnd(): string | undefined {
    const open = [...this.#calls].find((id) => !this.#done.has(id));
    if (open !== undefined) return `the result of call ${open} is missing`;
    const lost = this.#blocks.find(({ type, text }) => type === 'tool_use' || text.trim() !== '');
    return lost && `a block of type ${lost.type} is incomplete`;
  }
}

/** Returns whether the output of a call can be read. Without any content, the output is empty. */
function isReadable(block: Fields): boolean {
  const { content } = block;
  if (content === undefined || content === null)
    return Object.keys(block).every((name) => resultFields.test(name) || name === 'content');
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return (
    wrongField(block, contentFields.get('tool_result')) === undefined &&
    (typeof content === 'string' || Array.isArray(content)) &&
    parts.every((part) => {
      const fields = fieldsOf(part);
      return (
        typeof fields['type'] === 'string' &&
        wrongField(fields, contentFields.get(fields['type'])) === undefined
      );
    })
  );
}

/**
 * Ignores whitespace that Claude Code trims, and keys, which are redacted only if one chunk contains the
 * whole key.
 */
function isSameText(streamed: string, whole: string): boolean {
  return whole.includes('[key]') || streamed.trim() === whole.trim();
}

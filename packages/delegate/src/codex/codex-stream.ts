import type { BackendEvent } from '../events/backend-event.ts';
import type { Fields } from '../events/fields.ts';
import { fieldsOf, holdsData, listOf, objectIn, textOf } from '../events/fields.ts';
import { malformedEnd, TurnEnd, unreadable } from '../events/garbled.ts';
import { callTypes, codexName, readCodexEvent, readItem, typeOf } from './codex-line.ts';

/** Types of items that hold none of the response, in the spelling of `codex exec`. */
const notes: ReadonlySet<string> = new Set([
  'error', // A warning, which is also printed.
  'plan', // The plan of the task, which the messages explain.
  'todo_list', // The same, in another version.
  'user_message', // The prompt.
  'context_compaction', // The start of Codex's own conversation was summarized.
  'entered_review_mode', // A mode of the terminal.
  'exited_review_mode', // The same.
  'hook_prompt', // A text for the model.
]);

const messageTypes: readonly string[] = ['agent_message', 'reasoning'];

/**
 * The items of one turn of Codex, in `exec` or in the app server. Each item that starts must end once, and its text
 * must be the chunks that were streamed.
 */
export class CodexItems {
  /** The text so far of each open item. */
  readonly #open: Map<string, string> = new Map();
  readonly #done: Set<string> = new Set();
  /** The open messages and thoughts in the order of their start, in which they must end. */
  readonly #messages: Set<string> = new Set();

  /** Returns the events of an item that starts or ends. */
  read(item: Fields, isOver: boolean): readonly BackendEvent[] {
    const type = typeOf(item);
    if (type === '') return [malformedEnd(codexName, 'an item has no type')];
    if (this.#done.has(textOf(item['id'])))
      return [malformedEnd(codexName, 'an item continued after its end')];
    if (!callTypes.has(type) && !messageTypes.includes(type) && !notes.has(type))
      return isOver ? [{ type: 'notice', text: `Codex sent an item of unknown type ${type}.` }] : [];
    const problem = this.#problem(item, isOver);
    return problem === undefined ? readItem(item, isOver) : [malformedEnd(codexName, problem)];
  }

  #problem(item: Fields, isOver: boolean): string | undefined {
    if (!isReadable(item, isOver)) return 'an item cannot be read';
    const id = textOf(item['id']);
    const streamedText = this.#open.get(id) ?? '';
    const isMessage = messageTypes.includes(typeOf(item));
    if (!isOver) {
      if (isMessage) this.#messages.add(id);
      this.#open.set(id, streamedText);
      return undefined;
    }
    const [first = id] = this.#messages;
    if (isMessage && first !== id) return 'messages ended out of order';
    this.#messages.delete(id);
    this.#open.delete(id);
    this.#done.add(id);
    const { summary } = item;
    const text = Array.isArray(summary) ? listOf(summary).map(textOf).join('') : textOf(item['text']);
    // A key is redacted only if one chunk contains the whole key.
    return streamedText === '' || streamedText === text || text.includes('[key]')
      ? undefined
      : 'the complete text of an item differs from the stream';
  }

  /** Returns true for an item that has started. */
  hasStarted(id: string): boolean {
    return this.#open.has(id) || this.#done.has(id);
  }

  /** Adds a chunk of an item's text. */
  chunk(id: string, text: string): string | undefined {
    if (this.#done.has(id)) return 'an item continued after its end';
    this.#messages.add(id);
    if (id !== '') this.#open.set(id, (this.#open.get(id) ?? '') + text);
    return undefined;
  }

  /** Returns what is missing at the end of the turn. */
  missingAtEnd(): string | undefined {
    const [open] = this.#open.keys();
    return open === undefined ? undefined : `item ${open} was not completed`;
  }
}

/** Returns whether the content of an item can be read. */
function isReadable(item: Fields, isOver: boolean): boolean {
  const { id, text, summary, command, changes, server, tool } = item;
  const isText = (value: unknown) => typeof value === 'string';
  if (!isText(id)) return false;
  switch (typeOf(item)) {
    case 'agent_message':
      return !isOver || isText(text);
    case 'reasoning':
      return !isOver || (Array.isArray(summary) ? summary.every(isText) : isText(text));
    case 'command_execution': {
      const output = item['aggregated_output'] ?? item['aggregatedOutput'];
      const code = item['exit_code'] ?? item['exitCode'] ?? 0;
      const hasOutput = 'aggregated_output' in item || 'aggregatedOutput' in item;
      return isText(command) && (!isOver || (hasOutput && isText(output ?? ''))) && typeof code === 'number';
    }
    case 'file_change':
      return Array.isArray(changes);
    case 'mcp_tool_call':
      return isText(server) && isText(tool);
    default:
      return true;
  }
}

/** Reads the lines of one run of `codex exec --json`, and checks that none is missing: Codex numbers its items. */
export class CodexStream {
  readonly #items: CodexItems = new CodexItems();
  readonly #end: TurnEnd = new TurnEnd();
  #next = 0;
  #hasThread = false;
  /** The type of the last item that started, other than a note. */
  #last = '';

  line(line: string): readonly BackendEvent[] {
    const event = objectIn(line);
    if (event === undefined) return unreadable(codexName, line);
    const type = textOf(event['type']);
    if (this.#end.isNextTurn(type === 'turn.started')) return [];
    const item = fieldsOf(event['item']);
    if (type === '' && holdsData(event)) return [malformedEnd(codexName, 'a message has no type')];
    const isItem = type === 'item.started' || type === 'item.completed';
    const problem =
      this.#end.problem(type.startsWith('item.')) ??
      (isItem ? this.#numbered(item) : type === 'turn.completed' ? this.#missingAtEnd() : undefined);
    if (problem !== undefined) return [malformedEnd(codexName, problem)];
    this.#end.isOver ||= type === 'turn.completed';
    this.#hasThread ||= type === 'thread.started' && typeof event['thread_id'] === 'string';
    return isItem ? this.#items.read(item, type === 'item.completed') : readCodexEvent(event);
  }

  #missingAtEnd(): string | undefined {
    if (!this.#hasThread) return 'the id of its thread is missing';
    return (
      this.#items.missingAtEnd() ??
      (this.#last === 'agent_message' ? undefined : 'its last message is missing')
    );
  }

  /** Codex numbers its items in the order of their start. */
  #numbered(item: Fields): string | undefined {
    const id = textOf(item['id']);
    if (!this.#items.hasStarted(id) && !notes.has(typeOf(item))) this.#last = typeOf(item);
    const number = Number(/^item_(\d+)$/.exec(id)?.[1] ?? -1);
    if (number > this.#next) return `item_${this.#next} is missing`;
    if (number === this.#next) this.#next += 1;
    return undefined;
  }
}

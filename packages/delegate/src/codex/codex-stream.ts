import type { BackendEvent } from '../events/backend-event.ts';
import type { Fields } from '../events/fields.ts';
import { fieldsOf, listOf, objectIn, textOf } from '../events/fields.ts';
import { garbled } from '../events/garbled.ts';
import { codexName, readCodexLine } from './codex-line.ts';

/** Items of Codex that hold none of its response, with the reasons. Names have the spelling of `codex exec`. */
export const ignoredItems: Readonly<Record<string, string>> = {
  error: 'a warning, which is also printed',
  plan: 'the plan of the task, which the messages explain',
  todo_list: 'the plan of the task, which the messages explain',
  user_message: 'the prompt',
  context_compaction: 'a note that the start of its own conversation was summarized',
  entered_review_mode: 'a mode of the terminal',
  exited_review_mode: 'a mode of the terminal',
  hook_prompt: 'a text for the model',
};

const readTypes: ReadonlySet<string> = new Set([
  'agent_message',
  'reasoning',
  'command_execution',
  'file_change',
  'mcp_tool_call',
  'web_search',
  'collab_tool_call',
  'image_view',
  ...Object.keys(ignoredItems),
]);

/** Returns an item's type in the spelling of `codex exec`. */
export function typeOf(item: Fields): string {
  return textOf(item['type']).replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/**
 * The items of one turn of Codex, in `exec` or in the app server. Each item that starts must end once, and its text
 * must be the chunks that were streamed.
 */
export class CodexItems {
  readonly #open: Map<string, string> = new Map();
  readonly #done: Set<string> = new Set();
  /** The open messages and thoughts in the order of their start, in which they must end. */
  readonly #messages: Set<string> = new Set();

  /** Returns what is wrong; `repeated` for an item that has ended before. */
  item(item: Fields, isOver: boolean): string | undefined {
    const id = textOf(item['id']);
    if (this.#done.has(id)) return 'repeated';
    if (!readTypes.has(typeOf(item))) return undefined;
    const said = this.#open.get(id);
    const isMessage = typeOf(item) === 'agent_message' || typeOf(item) === 'reasoning';
    if (isMessage && !isOver) this.#messages.add(id);
    const [first = id] = this.#messages;
    if (isMessage && isOver && first !== id) return 'a message ended before the one that started earlier';
    this.#messages.delete(isOver ? id : '');
    if (!isOver) {
      this.#open.set(id, said ?? '');
      return undefined;
    }
    this.#open.delete(id);
    this.#done.add(id);
    const text =
      typeOf(item) === 'reasoning' ? listOf(item['summary']).map(textOf).join('') : textOf(item['text']);
    // A key is removed only where it stands in one piece.
    return (said ?? '') === '' || text === '' || said === text || text.includes('[key]')
      ? undefined
      : 'the streamed and the complete text of an item differ';
  }

  /** Returns true for an item that has started. */
  knows(id: string): boolean {
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
  ended(): string | undefined {
    const [open] = this.#open.keys();
    return open === undefined ? undefined : `the item ${open} has no end`;
  }
}

/** Returns a notice of an item whose type is unknown. */
export function unknownItem(item: Fields): BackendEvent[] {
  if (readTypes.has(typeOf(item))) return [];
  return [{ type: 'notice', text: `Codex sent an item of the unknown type ${typeOf(item)}.` }];
}

/** Reads the lines of one run of `codex exec --json`, and checks that none is missing: Codex numbers its items. */
export class CodexStream {
  readonly #items: CodexItems = new CodexItems();
  #next = 0;
  #hasThread = false;
  /** Set by the end of the turn; an item of the same turn must not follow it. */
  #isOver = false;
  #isNextTurn = false;
  /** The type of the last item that started, other than a note. */
  #last = '';

  line(line: string): readonly BackendEvent[] {
    const event = objectIn(line);
    if (event === undefined || this.#isNextTurn) return [];
    const { type } = event;
    this.#isNextTurn = this.#isOver && type === 'turn.started';
    if (this.#isOver && textOf(type).startsWith('item.'))
      return [garbled(codexName, 'it continued after its result')];
    this.#isOver ||= type === 'turn.completed';
    const item = fieldsOf(event['item']);
    if (type === 'thread.started') this.#hasThread = true;
    if (type === 'item.started' || type === 'item.completed') {
      if (!this.#items.knows(textOf(item['id'])) && !(typeOf(item) in ignoredItems))
        this.#last = typeOf(item);
      const problem = this.#numbered(textOf(item['id'])) ?? this.#items.item(item, type === 'item.completed');
      if (problem === 'repeated') return [];
      if (problem !== undefined) return [garbled(codexName, problem)];
    }
    if (type === 'turn.completed') {
      const problem = this.#hasThread ? this.#ended() : 'the id of its thread is missing';
      if (problem !== undefined) return [garbled(codexName, problem)];
    }
    return [...(type === 'item.completed' ? unknownItem(item) : []), ...readCodexLine(line)];
  }

  #ended(): string | undefined {
    return (
      this.#items.ended() ?? (this.#last === 'agent_message' ? undefined : 'its last message is missing')
    );
  }

  /** Codex numbers its items in the order of their start. */
  #numbered(id: string): string | undefined {
    const number = /^item_(\d+)$/.exec(id)?.[1];
    if (number === undefined || Number(number) < this.#next) return undefined;
    if (Number(number) > this.#next) return `the item item_${this.#next} is missing`;
    this.#next += 1;
    return undefined;
  }
}

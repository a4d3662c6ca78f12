import type { BlockKey, ResponseSink } from '@cobbler/agent/provider';
import { addArguments, areSameArguments, broken } from '../stream.ts';

export type ItemKind = 'text' | 'reasoning' | 'input';

/** One item of the output and its content so far. */
export interface OutputItem {
  readonly key: BlockKey;
  readonly id: string;
  readonly type: string;
  /** The text, the reasoning or the arguments so far. */
  content: string;
  /** For reasoning: the summary and the content so far, which `content` contains both. */
  readonly thought: { summary: string; content: string };
  /** The part of the latest chunk, and where that part starts. */
  part: unknown;
  partFrom: number;
  isAnnounced: boolean;
  /** The parts that have ended. */
  readonly ended: Set<unknown>;
  /** True if the item is complete and will not change. */
  isDone: boolean;
  /** True if the last event has repeated this item. */
  isMatched: boolean;
}

/** The items of one response. Content that the service repeats in full is compared with the streamed chunks. */
export class Items {
  readonly #all: OutputItem[] = [];
  readonly #byKey: Map<BlockKey, OutputItem> = new Map();

  /** Returns the item with this key, or a different one if the key is reused for another type. */
  at(key: BlockKey, type: string, id = ''): OutputItem {
    const known = this.#byKey.get(key) ?? this.#withId(key, id);
    if (known?.type === type) return known;
    const earlier = this.#all.findLast((item) => item.key === key && item.type === type);
    const item = earlier ?? this.#begin(key, type, id);
    this.#byKey.set(key, item);
    return item;
  }

  /** Returns the item with this id if one of its events has an index and another has none: the id is then its key. */
  #withId(key: BlockKey, id: string): OutputItem | undefined {
    return this.#all.findLast((item) => item.id === id && (item.key === id || key === id));
  }

  /** Returns the item that is announced or sent in full with this key; a new one if the previous item was complete. */
  opened(key: BlockKey, type: string, id: string): OutputItem {
    const known = this.at(key, type, id);
    if (!known.isDone || (id !== '' && known.id === id)) return known;
    const item = this.#begin(key, type, id);
    this.#byKey.set(key, item);
    return item;
  }

  /** Returns the item that an entry of the last event repeats. Servers change its id, omit its index or move it. */
  match(index: number, type: string, id: string): OutputItem {
    const key = String(index);
    const all = this.#all.filter((item) => !item.isMatched);
    const alike = all.filter((item) => item.type === type);
    const item =
      (id === '' ? undefined : all.find((one) => one.id === id && one.type === type)) ??
      alike.find((one) => one.key === key) ??
      alike[0] ??
      this.at(this.#byKey.has(key) ? `closing:${key}` : key, type, id);
    item.isMatched = true;
    return item;
  }

  /** The items so far, in the order of their start. */
  get all(): readonly OutputItem[] {
    return [...this.#all];
  }

  #begin(key: BlockKey, type: string, id: string): OutputItem {
    const fresh = {
      content: '',
      thought: { summary: '', content: '' },
      part: undefined,
      partFrom: 0,
      isAnnounced: false,
      ended: new Set<unknown>(),
      isDone: false,
      isMatched: false,
    };
    const item: OutputItem = { key, id, type, ...fresh };
    this.#all.push(item);
    return item;
  }

  addChunk(item: OutputItem, kind: ItemKind, text: string, part: unknown): void {
    if (part !== item.part) {
      item.part = part;
      item.partFrom = item.content.length;
    }
    item.content = kind === 'input' ? addArguments(item.content, text) : item.content + text;
  }
}

/** Compares a complete part or item with its chunks, and emits the missing rest. */
export function whole(item: OutputItem, kind: ItemKind, text: string, out: ResponseSink, from = 0): void {
  const streamed = from === 0 ? item.content : item.content.slice(from);
  if (text === '') return out.ignore('repetition');
  add(item, kind, streamed, text, out);
}

/** Compares a complete text with what has arrived of it, and emits the missing rest. */
export function add(
  item: OutputItem,
  kind: ItemKind,
  streamed: string,
  text: string,
  out: ResponseSink,
): void {
  out.ignore('repetition');
  // Some servers trim the complete text.
  if (text === streamed || text === streamed.trim()) return;
  if (text.startsWith(streamed)) {
    const rest = text.slice(streamed.length);
    item.content += rest;
    out[kind](item.key, rest);
    return;
  }
  if (kind === 'input' && areSameArguments(text, streamed)) return;
  const what = kind === 'input' ? 'arguments' : kind;
  broken(out, `the complete ${what} of an item differs from the stream`);
}

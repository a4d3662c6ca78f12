import type { BlockKey, ResponseSink } from '@cobbler/agent/provider';

export type ItemKind = 'text' | 'reasoning' | 'input';

/**
 * Maximum number of UTF-16 code units of arguments that are compared: 1 Mi. Longer arguments are rejected elsewhere.
 */
const maxArguments = 1024 * 1024;

/** One item of the output and its content so far. */
export interface OutputItem {
  readonly key: BlockKey;
  readonly id: string;
  readonly type: string;
  /** The text, the reasoning or the arguments so far. */
  said: string;
  /** The part of the latest chunk, and where that part starts. */
  part: unknown;
  partFrom: number;
  isAnnounced: boolean;
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
    const known = this.#byKey.get(key);
    if (known?.type === type) return known;
    const earlier = this.#all.findLast((item) => item.key === key && item.type === type);
    const item = earlier ?? this.#begin(key, type, id);
    this.#byKey.set(key, item);
    return item;
  }

  /**
   * Returns the item that is announced or sent in full with this key; a new one if the previous item was complete.
   */
  opened(key: BlockKey, type: string, id: string): OutputItem {
    const known = this.at(key, type, id);
    if (!known.isDone || (id !== '' && known.id === id)) return known;
    const item = this.#begin(key, type, id);
    this.#byKey.set(key, item);
    return item;
  }

  /** Returns the item that an entry of the last event repeats. Servers change its id, omit its index or move it. */
  match(index: number, type: string, id: string): OutputItem {
    const all = this.#all.filter((item) => !item.isMatched);
    const alike = all.filter((item) => item.type === type);
    const item =
      (id === '' ? undefined : all.find((one) => one.id === id && one.type === type)) ??
      alike.find(({ key }) => key === index) ??
      alike[0] ??
      this.at(this.#byKey.has(index) ? `closing:${index}` : index, type, id);
    item.isMatched = true;
    return item;
  }

  #begin(key: BlockKey, type: string, id: string): OutputItem {
    const fresh = {
      said: '',
      part: undefined,
      partFrom: 0,
      isAnnounced: false,
      isDone: false,
      isMatched: false,
    };
    const item: OutputItem = { key, id, type, ...fresh };
    this.#all.push(item);
    return item;
  }

  /** Adds a chunk to an item. */
  piece(item: OutputItem, kind: ItemKind, text: string, part: unknown): void {
    if (part !== item.part) {
      item.part = part;
      item.partFrom = item.said.length;
    }
    if (kind !== 'input' || item.said.length <= maxArguments) item.said += text;
  }
}

/** Compares a complete part or item with its chunks, and emits the missing rest. */
export function whole(item: OutputItem, kind: ItemKind, text: string, out: ResponseSink, from = 0): void {
  const said = from === 0 ? item.said : item.said.slice(from);
  if (text === '' || text === said) return;
  if (text.startsWith(said)) {
    const rest = text.slice(said.length);
    item.said += rest;
    out[kind](item.key, rest);
    return;
  }
  const isCut = kind === 'input' && item.said.length > maxArguments;
  // Reasoning is not part of the response text; it is shown as streamed, and stored as in the complete item.
  if (kind === 'reasoning' || isCut || bare(text) === bare(said)) return;
  const what = kind === 'input' ? 'arguments' : 'text';
  out.fail({
    kind: 'broken',
    message: `The response cannot be parsed: the streamed and the complete ${what} of an item differ.`,
  });
}

function bare(text: string): string {
  return text.replace(/\s+/g, '');
}

import type { Fields } from '../values/fields.ts';
import { fieldsOf, isFields, textIn } from '../values/fields.ts';

/** The block of each kind of delta of the Messages API. */
const deltas: ReadonlyMap<unknown, readonly string[]> = new Map<unknown, readonly string[]>([
  ['text_delta', ['text']],
  ['citations_delta', ['text']],
  ['thinking_delta', ['thinking']],
  ['signature_delta', ['thinking']],
  ['input_json_delta', ['tool_use']],
]);

/** Items of the Responses API that the SDK reads. */
const kept: ReadonlySet<unknown> = new Set(['message', 'reasoning', 'function_call']);

/** Types of events of the two services that name them. */
const known: Readonly<Record<'messages' | 'responses', RegExp>> = {
  messages: /^(message_(start|delta|stop)|content_block_(start|delta|stop)|ping|error)$/,
  responses:
    /^(error|response\.(created|in_progress|queued|completed|incomplete|failed|output_item\.\w+|content_part\.\w+|output_text\.(delta|done|annotation\.added)|refusal\.\w+|function_call_arguments\.\w+|reasoning_(summary_)?(text|part)\.\w+))$/,
};

/**
 * Checks that the raw events of a response are complete and in order, which the SDK does not. Events of other services
 * are not checked.
 *
 * @returns what is wrong with the event; undefined if nothing is
 */
export class RawEvents {
  readonly #blocks: { readonly kind: unknown; isOpen: boolean }[] = [];
  /** The state of the items of the Responses API, by index. */
  readonly #items: Map<unknown, { isAdded?: true; isDone?: true }> = new Map();
  #hasStarted = false;
  #hasStopped = false;
  #number = 0;
  /** The indexes of the calls of Chat Completions. */
  readonly #calls: Set<unknown> = new Set();
  #service: keyof typeof known | undefined;
  /** The highest index of an item of an unknown type. */
  #unknown = -1;

  /** Returns true for an event of an unknown type of a known service, unless the last event repeats its item. */
  isUnknown(event: unknown): boolean {
    const { type, output_index: index } = fieldsOf(event);
    if (typeof type !== 'string') return false;
    if (type === 'message_start') this.#service ??= 'messages';
    if (type.startsWith('response.')) this.#service ??= 'responses';
    if (this.#service === undefined || known[this.#service].test(type)) return false;
    if (this.#service === 'messages' || typeof index !== 'number') return true;
    this.#unknown = Math.max(this.#unknown, index);
    return false;
  }

  check(event: unknown): string | undefined {
    const fields = fieldsOf(event);
    const { type } = fields;
    if (typeof type !== 'string') return Array.isArray(fields['choices']) ? this.#chunk(fields) : undefined;
    return type.startsWith('response.') ? this.#responses(type, fields) : this.#messages(type, fields);
  }

  #messages(type: string, { index, delta, content_block: block }: Fields): string | undefined {
    const open = this.#blocks[Number(index)];
    switch (type) {
      case 'message_start':
        if (this.#hasStarted) return 'the response started again';
        this.#hasStarted = true;
        return undefined;
      case 'content_block_start':
        if (!this.#hasStarted || index !== this.#blocks.length) return 'a block came out of order';
        this.#blocks.push({ kind: fieldsOf(block)['type'], isOpen: true });
        return undefined;
      case 'content_block_delta': {
        const kinds = deltas.get(fieldsOf(delta)['type']) ?? [];
        return open?.isOpen && kinds.includes(String(open.kind))
          ? undefined
          : 'a chunk belongs to no open block';
      }
      case 'content_block_stop':
        if (open?.isOpen !== true) return 'a block ended without a start';
        open.isOpen = false;
        return undefined;
      case 'message_delta':
        this.#hasStopped ||= textIn(fieldsOf(delta)['stop_reason']) !== undefined;
        return this.#hasStarted ? undefined : 'the start of the response is missing';
      case 'message_stop':
        return this.#hasStopped && this.#blocks.every(({ isOpen }) => !isOpen)
          ? undefined
          : 'its end is missing';
      default:
        return undefined;
    }
  }

  #responses(
    type: string,
    { sequence_number: number, output_index: index, item, response }: Fields,
  ): string | undefined {
    if (typeof number === 'number' && number > 0) {
      if (number < this.#number) return `its event ${number} arrived after its event ${this.#number}`;
      this.#number = number;
    }
    const state = this.#items.get(index) ?? {};
    if (type === 'response.output_item.added' || type === 'response.output_item.done')
      this.#items.set(index, state);
    if (type === 'response.output_item.added') {
      if (!kept.has(fieldsOf(item)['type'])) this.#unknown = Math.max(this.#unknown, Number(index));
      if (state.isAdded) return 'an item was sent a second time';
      state.isAdded = true;
    }
    if (type === 'response.output_item.done') {
      if (state.isDone) return 'an item ended a second time';
      state.isDone = true;
    }
    const isChunk = type.endsWith('.delta') && known.responses.test(type);
    if (isChunk && (state.isDone || !state.isAdded)) return 'a chunk belongs to no open item';
    if (type !== 'response.completed' && type !== 'response.incomplete') return undefined;
    return this.#closing(fieldsOf(response)['output']);
  }

  /** The SDK reads calls, reasoning and the ids around reasoning only from the first and the last event of an item. */
  #closing(output: unknown): string | undefined {
    const all = Array.isArray(output) ? output : [];
    const types = all.map((item) => String(fieldsOf(item)['type']));
    const isTorn = types.some((type, index) => {
      const { isAdded, isDone } = this.#items.get(index) ?? {};
      return isAdded !== isDone && (type !== 'message' || types.includes('reasoning'));
    });
    if (isTorn) return 'an item has no start or no end';
    if (this.#unknown >= all.length) return `the last event does not repeat item ${this.#unknown}`;
    const unknown = types.find((type) => !kept.has(type));
    return unknown === undefined ? undefined : `the SDK cannot keep an item of type ${unknown}`;
  }

  #chunk({ choices }: Fields): string | undefined {
    const [choice, other] = Array.isArray(choices) ? choices.map(fieldsOf) : [];
    const { index, delta } = choice ?? {};
    if (other !== undefined || Number(index ?? 0) !== 0) return 'it has a second choice';
    const { role, content, tool_calls: calls, ...rest } = fieldsOf(delta);
    const lost = ['audio', 'images', 'video'].find((name) => rest[name] !== undefined && rest[name] !== null);
    if (lost !== undefined) return `the SDK cannot keep ${lost}`;
    if (textIn(role) !== undefined && this.#hasStopped && !this.#hasStarted) return 'its start arrived late';
    this.#hasStarted ||= textIn(role) !== undefined;
    this.#hasStopped ||= textIn(content) !== undefined;
    for (const call of Array.isArray(calls) ? calls.filter(isFields) : []) {
      const at = call['index'];
      this.#hasStopped = true;
      if (typeof at !== 'number' || this.#calls.has(at)) continue;
      if (textIn(call['id']) === undefined && textIn(fieldsOf(call['function'])['name']) === undefined)
        return 'a call has no start';
      if (this.#calls.size > 0 && at < Math.max(...[...this.#calls].map(Number)))
        return 'its calls came out of order';
      this.#calls.add(at);
    }
    return undefined;
  }
}

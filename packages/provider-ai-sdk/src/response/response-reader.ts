import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { fieldsOf, isFields, textIn } from '../values/fields.ts';
import type { SinkCall } from '../values/sink-call.ts';
import type { AttachmentBlock, AttachmentKind } from './attachments.ts';
import { Attachments } from './attachments.ts';
import { streamFault } from './fault.ts';
import { RawEvents } from './raw-events.ts';
import { earlyUsage, settledReason, stopOf, stopWord, usageOf } from './stop.ts';

type Part<Type extends LanguageModelV4StreamPart['type']> = Extract<
  LanguageModelV4StreamPart,
  { readonly type: Type }
>;

/** Parts of the SDK that may be dropped, with the reasons. */
export const ignored: Readonly<Record<string, string>> = {
  ping: 'it keeps the connection alive',
  'stream-start': 'it repeats warnings about the request',
  'response-metadata': 'it contains ids and times',
  'tool-input-end': 'the complete call follows',
  source: 'a source of a text, which is complete without it',
  'anthropic.message_start': 'its model and usage are read from the raw event',
  'after the end': 'a failure or a notice that follows the last event, which completes the response',
};

/** Types of parts that the SDK makes from the last event of a response, or that may follow it. */
const afterEnd: ReadonlySet<LanguageModelV4StreamPart['type']> = new Set<LanguageModelV4StreamPart['type']>([
  'text-end',
  'reasoning-end',
  'tool-input-end',
  'tool-call',
  'raw',
  'finish',
]);

const content: ReadonlySet<string> = new Set([
  'text-start',
  'text-delta',
  'reasoning-start',
  'reasoning-delta',
  'tool-input-start',
  'tool-input-delta',
]);

/** Maximum number of UTF-16 code units of arguments that are compared: 1 Mi. */
const maxArguments = 1024 * 1024;

/**
 * Converts the stream parts of one response to sink calls. An id identifies a part only between its start and its
 * end, because services reuse ids.
 */
export class ResponseReader {
  readonly #open = new Map<string, AttachmentBlock>();
  #blocks = 0;
  #hasCalls = false;
  readonly #closedCalls = new Set<string>();
  readonly #attachments = new Attachments();
  /** The text of each text block and the arguments of each call, joined. */
  readonly #texts: { readonly id: string; text: string }[] = [];
  readonly #inputs: { readonly id: string; text: string }[] = [];
  /** The reasoning of each block, in the order of their start. */
  readonly #thoughts: Map<string, string> = new Map();
  readonly #raws = new RawEvents();
  #model: string | undefined;
  /** The service's stop reason, unconverted. */
  #word: string | undefined;
  /** True after the end of the response; later events are not part of it. */
  #isOver = false;

  /** Converts a part. Parts of unknown types, and content after the end, make the response invalid. */
  read(part: LanguageModelV4StreamPart): readonly SinkCall[] {
    if (this.#isOver && content.has(part.type)) return [garbled('content arrived after its end')];
    if (this.#isOver && !afterEnd.has(part.type)) return [{ say: 'ignore', kind: 'after the end' }];
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return this.#start(part);
      case 'text-delta':
      case 'reasoning-delta':
        return this.#delta(part);
      case 'text-end':
      case 'reasoning-end':
        return this.#end(part);
      case 'tool-input-start':
        if (part.providerExecuted === true) return [{ say: 'ignore', kind: 'a call that the service runs' }];
        return this.#call(part.id, part.toolName);
      case 'tool-input-delta':
        return this.#input(part);
      case 'tool-call':
        if (part.providerExecuted === true) return [{ say: 'ignore', kind: 'a call that the service runs' }];
        return this.#wholeCall(part);
      case 'response-metadata':
        return part.modelId === undefined
          ? [{ say: 'ignore', kind: part.type }]
          : [{ say: 'model', name: part.modelId }];
      case 'finish':
        return this.#finish(part);
      case 'error':
        return failure(part.error);
      case 'raw':
        return this.#raw(part.rawValue);
      case 'custom':
        return [{ say: 'ignore', kind: part.kind }];
      default:
        return [{ say: 'ignore', kind: part.type }];
    }
  }

  /** Converts a thrown error. Unless the service failed, it means that the SDK could not read its input. */
  thrown(error: unknown): readonly SinkCall[] {
    const { statusCode, message } = fieldsOf(error);
    return typeof statusCode === 'number' ? failure(error) : [garbled(message)];
  }

  #start(part: Part<'text-start' | 'reasoning-start'>): SinkCall[] {
    const kind = kindOf(part);
    const block = this.#open.get(nameOf(kind, part.id)) ?? this.#begin(kind, part.id);
    if (kind === 'reasoning') this.#thoughts.set(part.id, '');
    return [{ say: kind, at: block.at, delta: '' }, ...this.#attach(block, part)];
  }

  #delta(part: Part<'text-delta' | 'reasoning-delta'>): SinkCall[] {
    const kind = kindOf(part);
    const block = this.#open.get(nameOf(kind, part.id)) ?? this.#begin(kind, part.id);
    const words: SinkCall[] = part.delta === '' ? [] : [{ say: kind, at: block.at, delta: part.delta }];
    block.size += part.delta.length;
    const said = kind === 'text' ? this.#texts.findLast(({ id }) => id === part.id) : undefined;
    if (said !== undefined) said.text += part.delta;
    if (kind === 'reasoning') this.#thoughts.set(part.id, (this.#thoughts.get(part.id) ?? '') + part.delta);
    return [...words, ...this.#attach(block, part)];
  }

  #end(part: Part<'text-end' | 'reasoning-end'>): SinkCall[] {
    const kind = kindOf(part);
    const block = this.#open.get(nameOf(kind, part.id));
    if (block === undefined) return [];
    this.#open.delete(nameOf(kind, part.id));
    const attached = this.#attach(block, part);
    return [...attached, { say: 'close', at: block.at }, ...this.#attachments.close(block)];
  }

  #call(id: string, name: string): SinkCall[] {
    this.#hasCalls = true;
    if (this.#open.has(nameOf('call', id))) return [];
    const { at } = this.#begin('call', id);
    this.#inputs.push({ id, text: '' });
    return [{ say: 'call', at, id, name }];
  }

  #input({ id, delta }: Part<'tool-input-delta'>): SinkCall[] {
    const block = this.#open.get(nameOf('call', id));
    if (block === undefined || delta === '') return [];
    block.size += delta.length;
    this.#took(id, delta);
    return [{ say: 'input', at: block.at, delta }];
  }

  /** Converts a complete call. Its arguments have usually been streamed already; some models send them only here. */
  #wholeCall(part: Part<'tool-call'>): SinkCall[] {
    const { toolCallId: id, toolName } = part;
    const name = nameOf('call', id);
    if (!this.#open.has(name) && (this.#isOver || this.#closedCalls.has(id))) return [];
    const words = this.#call(id, toolName);
    const block = this.#open.get(name);
    if (block === undefined) return words;
    this.#open.delete(name);
    this.#closedCalls.add(id);
    if (block.size === 0) {
      this.#took(id, part.input);
      words.push({ say: 'input', at: block.at, delta: part.input });
    }
    return [...words, ...this.#attach(block, part), { say: 'close', at: block.at }];
  }

  /**
   * Converts a raw event, which precedes the parts that the SDK makes from it and contains details that the SDK
   * omits.
   */
  #raw(event: unknown): SinkCall[] {
    this.#isOver = this.#word !== undefined;
    if (this.#isOver) return [];
    this.#word = stopWord(event);
    const problem = this.#raws.check(event);
    if (problem !== undefined) return [garbled(problem)];
    const words: SinkCall[] = this.#raws.isUnknown(event) ? [{ say: 'unknown', event }] : [];
    const model = textIn(fieldsOf(event)['model']);
    if (model !== undefined && this.#model === undefined) words.push({ say: 'model', name: model });
    this.#model ??= model;
    const counts = earlyUsage(event);
    if (counts !== undefined) words.push({ say: 'usage', counts });
    return [...words, ...this.#signature(event), ...this.#closing(event)];
  }

  /** Compares the complete content in the last event with the streamed parts, and adds missing parts. */
  #closing(event: unknown): readonly SinkCall[] {
    const whole = closingOutput(event);
    if (whole === undefined) return [];
    const words: SinkCall[] = whole.model === undefined ? [] : [{ say: 'model', name: whole.model }];
    const text = this.#texts.map((one) => one.text).join('');
    const reasoning = [...this.#thoughts.values()].join('');
    if (whole.reasoning !== '' && reasoning !== '' && whole.reasoning !== reasoning)
      return [garbled('the streamed and the complete reasoning differ')];
    if (whole.text !== '' && whole.text !== text && whole.text !== text.trim()) {
      if (!whole.text.startsWith(text)) return [garbled('the streamed text and the complete text differ')];
      words.push({ say: 'text', at: 'closing text', delta: whole.text.slice(text.length) });
    }
    const told = [...this.#inputs];
    for (const { id, name, input } of whole.calls) {
      const at = told.findIndex((one) => one.id === id);
      const [said] = at === -1 ? [] : told.splice(at, 1);
      if (said === undefined)
        words.push(...this.#wholeCall({ type: 'tool-call', toolCallId: id, toolName: name, input }));
      else if (input !== '' && said.text.length <= maxArguments && !isSameJson(said.text, input))
        return [garbled('the streamed and the complete arguments of a call differ')];
    }
    const order = this.#inputs.map(({ id }) => id);
    const meant = whole.calls.map(({ id }) => id).filter((id) => order.includes(id));
    if (meant.join() !== order.filter((id) => meant.includes(id)).join())
      return [garbled('the streamed and the complete calls differ')];
    return words;
  }

  /** Stores arguments for the comparison, up to a limit. Longer arguments are rejected elsewhere. */
  #took(id: string, input: string): void {
    const said = this.#inputs.findLast((one) => one.id === id);
    if (said !== undefined && said.text.length <= maxArguments) said.text += input;
  }

  /** Restores the signature of reasoning that alternates with another block, which the SDK drops. */
  #signature(event: unknown): SinkCall[] {
    const { index, delta } = fieldsOf(event);
    const { type, signature } = fieldsOf(delta);
    const block = this.#open.get(nameOf('reasoning', String(index)));
    if (type !== 'signature_delta' || typeof signature !== 'string' || block === undefined) return [];
    return this.#attachments.add(block, { anthropic: { signature } });
  }

  #finish({ usage, finishReason }: Part<'finish'>): SinkCall[] {
    const counts: SinkCall = { say: 'usage', counts: usageOf(usage) };
    const settled = settledReason(finishReason, this.#word);
    const reason = stopOf(settled, this.#hasCalls);
    return reason === undefined ? [counts] : [counts, { say: 'end', reason, raw: settled.raw }];
  }

  #begin(kind: AttachmentKind, id: string): AttachmentBlock {
    const block = this.#attachments.begin(kind, `${kind} ${this.#blocks}`);
    this.#blocks += 1;
    if (kind === 'text') this.#texts.push({ id, text: '' });
    this.#open.set(nameOf(kind, id), block);
    return block;
  }

  #attach(block: AttachmentBlock, { providerMetadata }: { readonly providerMetadata?: unknown }): SinkCall[] {
    return providerMetadata === undefined ? [] : this.#attachments.add(block, providerMetadata);
  }
}

function kindOf({ type }: { readonly type: string }): 'text' | 'reasoning' {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

function nameOf(kind: AttachmentKind, id: string): string {
  return `${kind} ${id}`;
}

function garbled(why: unknown): SinkCall {
  return {
    say: 'fail',
    kind: 'broken',
    message: `The response cannot be parsed: ${String(why).slice(0, 300)}`,
  };
}

function failure(error: unknown): SinkCall[] {
  const { name, value, message, cause } = fieldsOf(error);
  const misfit = name === 'AI_TypeValidationError' ? value : fieldsOf(cause)['value'];
  if ([name, fieldsOf(cause)['name']].includes('AI_TypeValidationError') && canSkip(misfit))
    return [{ say: 'unknown', event: misfit }];
  if (
    name === 'AI_TypeValidationError' ||
    name === 'AI_JSONParseError' ||
    name === 'AI_InvalidResponseDataError'
  )
    return [garbled(message)];
  return [{ say: 'fail', ...streamFault(error) }];
}

/** A call in the last event of a response. */
interface ClosingCall {
  readonly id: string;
  readonly name: string;
  readonly input: string;
}

/** The content that the last event of the Responses API repeats, and of which the SDK reads only the usage. */
interface ClosingOutput {
  readonly model: string | undefined;
  readonly text: string;
  /** The summaries of reasoning, or its content where there is no summary. */
  readonly reasoning: string;
  readonly calls: readonly ClosingCall[];
}

/** Returns the content of a last event; undefined for other events. */
function closingOutput(event: unknown): ClosingOutput | undefined {
  const { type, response } = fieldsOf(event);
  if (type !== 'response.completed' && type !== 'response.incomplete') return undefined;
  const items = listIn(fieldsOf(response)['output']).map(fieldsOf);
  const parts = items.flatMap((item) => (item['type'] === 'message' ? listIn(item['content']) : []));
  const texts = parts.map(fieldsOf).map((part) => textIn(part['text']) ?? textIn(part['refusal']) ?? '');
  const calls = items.flatMap((item) => {
    const [id, name, input] = ['call_id', 'name', 'arguments'].map((key) => textIn(item[key]) ?? '');
    return item['type'] === 'function_call' && id && name ? [{ id, name, input: input ?? '' }] : [];
  });
  const thoughts = items.flatMap((item) => (item['type'] === 'reasoning' ? listIn(item['summary']) : []));
  const reasoning = thoughts.map((part) => textIn(fieldsOf(part)['text']) ?? '').join('');
  return { model: textIn(fieldsOf(response)['model']), text: texts.join(''), reasoning, calls };
}

/** Returns whether two texts are equal, or the same JSON written in different ways. */
function isSameJson(left: string, right: string): boolean {
  return left === right || compact(left) === compact(right);
}

function compact(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text));
  } catch {
    return text;
  }
}

function listIn(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

/**
 * Pattern of the event, block and delta types of a response. If one of them cannot be read, the response is
 * malformed.
 */
const known =
  /^(message_(start|delta|stop)|content_block_(start|delta|stop)|text|thinking|redacted_thinking|tool_use|(text|thinking|signature|input_json)_delta|error|response\.(created|completed|incomplete|failed|output_\w+\.\w+|function_call_arguments\.\w+|reasoning_\w+\.\w+|refusal\.\w+)|message|function_call|reasoning)$/;

/** Fields in which events contain their content. */
const holders = ['content_block', 'delta', 'item', 'part', 'message', 'response'];

/**
 * Returns true if an event that matches no schema of the SDK is of an unknown type, or has no content. A known type
 * with content that does not match is an error.
 */
function canSkip(value: unknown): boolean {
  const event = fieldsOf(value);
  if (isFields(event['error'])) return false;
  const held = holders.map((name) => event[name]);
  const kinds = [event['type'], ...held.map((part) => fieldsOf(part)['type'])];
  if (kinds.some((kind) => typeof kind === 'string' && !known.test(kind))) return true;
  if (typeof event['type'] === 'string') return !held.some(speaks);
  return !choicesOf(event).some(({ delta, finish_reason }) => speaks(delta) || speaks(finish_reason));
}

/** Returns the choices of a Chat Completions event. Such events have no type; their content is in `choices`. */
function choicesOf({
  choices,
}: Readonly<Record<string, unknown>>): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(choices) ? choices.map(fieldsOf) : [];
}

function speaks(value: unknown): boolean {
  if (!isFields(value)) return textIn(value) !== undefined;
  return Object.entries(value).some(
    ([name, held]) =>
      name !== 'type' && (textIn(held) !== undefined || (Array.isArray(held) && held.length > 0)),
  );
}

import type { LanguageModelV4StreamPart } from '@ai-sdk/provider';
import type { StopReason } from '@cobbler/agent';
import type { Fields } from '../values/fields.ts';
import { fieldsOf, listIn, textIn } from '../values/fields.ts';
import type { BlockKind, Options } from '../values/provider-metadata.ts';
import { isIdAlone, mergedOptions, sealOf } from '../values/provider-metadata.ts';
import type { SinkCall, SinkPayload } from '../values/sink-call.ts';
import { ExtraContent } from './extra-content.ts';
import { streamFault } from './fault.ts';
import type { RawCheck } from './raw-events.ts';
import { rawCheck } from './raw-events.ts';
import { earlyUsage, lastResponse, stopOf, stopWord, usageOf } from './stop.ts';

type Part<Type extends LanguageModelV4StreamPart['type']> = Extract<
  LanguageModelV4StreamPart,
  { readonly type: Type }
>;

const empty = 'it contains no part of the response';

/** Parts of the SDK that may be dropped, with the reasons. */
export const ignored: Readonly<Record<string, string>> = {
  // Keeps the connection alive.
  ping: empty,
  // Repeats warnings about the request.
  'stream-start': empty,
  // The complete call follows.
  'tool-input-end': empty,
  // A source of a text, which is complete without it.
  source: empty,
  // Its model and usage are read from the raw event.
  'anthropic.message_start': empty,
  // A failure or a notice that follows the last event, which completes the response.
  'after the end': empty,
};

/** Types of parts with content. */
const content = /-(start|delta)$/;

/** Types of parts that the SDK makes from the last event of a response, or that may follow it. */
const afterEnd = /-end$|^(tool-call|raw|finish)$/;

/** Maximum number of UTF-16 code units of arguments that are compared: 1 Mi. Longer ones are rejected elsewhere. */
const maxArguments = 1024 * 1024;

/** Converts stream parts to sink calls. Services reuse ids, so an id names a part only between its start and its end. */
export class ResponseReader {
  readonly #blocks: SdkBlock[] = [];
  readonly #check: RawCheck = rawCheck();
  readonly #extras = new ExtraContent();
  #model: string | undefined;
  /** The service's stop reason, unconverted. */
  #word: string | undefined;
  /** True after the end of the response; later events are not part of it. */
  #isOver = false;
  /** The result for the current part. */
  #calls: SinkPayload[] = [];

  /** Converts a part. Parts of unknown types, and content after the end, make the response invalid. */
  read(part: LanguageModelV4StreamPart): readonly SinkPayload[] {
    this.#calls = [];
    if (!this.#isOver || afterEnd.test(part.type)) this.#read(part);
    else if (content.test(part.type)) this.#failMalformed('content arrived after its end');
    else this.#say('ignore', 'after the end');
    return this.#calls;
  }

  #read(part: LanguageModelV4StreamPart): void {
    if ('providerExecuted' in part && part.providerExecuted === true)
      return this.#say('ignore', 'a call that the service runs');
    switch (part.type) {
      case 'text-start':
      case 'reasoning-start':
        return this.#start(part);
      case 'tool-input-start':
        this.#call(part.id, part.toolName);
        return;
      case 'text-delta':
      case 'reasoning-delta':
      case 'tool-input-delta':
        return this.#delta(part);
      case 'text-end':
      case 'reasoning-end':
        return this.#end(part);
      case 'tool-call':
        return this.#wholeCall(part);
      case 'response-metadata':
        return this.#say('model', part.modelId ?? '');
      case 'finish':
        this.#say('usage', usageOf(part.usage));
        return this.#stop(stopOf(part.finishReason, this.#word));
      case 'error':
        this.#calls.push(failure(part.error));
        return;
      case 'raw':
        return this.#raw(fieldsOf(part.rawValue));
      default:
        return this.#say('ignore', part.type === 'custom' ? part.kind : part.type);
    }
  }

  #say(...call: SinkCall): void {
    this.#calls.push(call);
  }

  #failMalformed(why: string): void {
    this.#calls.push(malformedResponse(why));
  }

  #differs(what: string): void {
    this.#failMalformed(`the complete ${what} differs from the stream`);
  }

  #start(part: Part<'text-start' | 'reasoning-start'>): void {
    const kind = kindOf(part);
    const block = this.#find(kind, part.id) ?? this.#begin(kind, part.id);
    this.#say(kind, block.at, '');
    this.#attach(block, part);
  }

  #delta(part: Part<'text-delta' | 'reasoning-delta' | 'tool-input-delta'>): void {
    const { id, delta } = part;
    const kind = part.type === 'tool-input-delta' ? 'call' : kindOf(part);
    const block = this.#find(kind, id);
    if (block === undefined) return this.#failMalformed('a chunk belongs to no open block');
    if (kind !== 'call' || block.text.length <= maxArguments) block.text += delta;
    // An empty chunk is not progress.
    if (delta !== '') this.#say(kind === 'call' ? 'input' : kind, block.at, delta);
    this.#attach(block, part);
  }

  #end(part: Part<'text-end' | 'reasoning-end'>): void {
    const block = this.#find(kindOf(part), part.id);
    if (block === undefined) return;
    this.#close(block, part);
    this.#calls.push(...attachedText(block));
  }

  #call(id: string, name: string): SdkBlock {
    const block = this.#find('call', id) ?? this.#begin('call', id);
    this.#say('call', block.at, id, name);
    return block;
  }

  /** Converts a complete call. Its arguments have usually been streamed already; some models send them only here. */
  #wholeCall(part: Part<'tool-call'>): void {
    const { toolCallId: id, toolName, input } = part;
    const isKnown = this.#isOver || this.#blocks.some((block) => block.kind === 'call' && block.id === id);
    if (isKnown && this.#find('call', id) === undefined) return;
    const block = this.#call(id, toolName);
    if (block.text === '') this.#delta({ type: 'tool-input-delta', id, delta: input });
    this.#close(block, part);
  }

  /** Converts a raw event, which precedes the parts that the SDK makes from it and contains details that the SDK omits. */
  #raw(event: Fields): void {
    const word = stopWord(event);
    this.#isOver = this.#word !== undefined;
    if (this.#isOver && word !== undefined && (word !== this.#word || lastResponse(event) !== undefined))
      return this.#failMalformed('it ended twice');
    if (this.#isOver) return;
    this.#word = word;
    const problem = this.#check(event);
    if (typeof problem === 'string') return this.#failMalformed(problem);
    if (problem !== undefined) this.#calls.push(problem);
    const model = this.#model ?? textIn(event['model']);
    if (model !== this.#model && model !== undefined) this.#say('model', model);
    this.#model = model;
    const counts = earlyUsage(event);
    if (counts !== undefined) this.#say('usage', counts);
    this.#signature(event);
    this.#extras.read(event);
    const last = lastResponse(event);
    if (last !== undefined) this.#closing(last);
  }

  /** Compares the complete content in the last event of the Responses API with the streamed parts, and adds missing ones. */
  #closing({ model, output }: Fields): void {
    const items = listIn(output).map(fieldsOf);
    if (typeof model === 'string') this.#say('model', model);
    const thoughts = textsIn(items, 'reasoning', 'summary');
    const whole = textsIn(items, 'message', 'content');
    const reasoning = this.#contentOf('reasoning');
    const text = this.#contentOf('text');
    if (thoughts !== '' && reasoning !== '' && thoughts !== reasoning) return this.#differs('reasoning');
    if (whole !== '' && whole !== text && whole !== text.trim()) {
      if (!whole.startsWith(text)) return this.#differs('text');
      this.#say('text', 'closing text', whole.slice(text.length));
    }
    const calls = this.#blocks.filter(({ kind }) => kind === 'call');
    let next = 0;
    for (const { type, call_id: toolCallId, name: toolName, arguments: given } of items) {
      const input = textIn(given) ?? '';
      if (type !== 'function_call' || typeof toolCallId !== 'string' || typeof toolName !== 'string')
        continue;
      const block = calls[next++];
      if (block === undefined) this.#wholeCall({ type: 'tool-call', toolCallId, toolName, input });
      else if (block.id !== toolCallId) return this.#differs('calls');
      else if (input !== '' && block.text.length <= maxArguments && !isSameJson(block.text, input))
        return this.#differs('arguments of a call');
    }
  }

  /** Restores the signature of reasoning that alternates with another block, which the SDK drops. */
  #signature({ index, delta }: Fields): void {
    const { type, signature } = fieldsOf(delta);
    if (type !== 'signature_delta' || typeof signature !== 'string') return;
    const block = this.#find('reasoning', String(index));
    if (block !== undefined) this.#attach(block, { providerMetadata: { anthropic: { signature } } });
  }

  #stop(reason: StopReason | undefined): void {
    if (reason !== undefined) this.#say('end', reason);
  }

  #find(kind: BlockKind, id: string): SdkBlock | undefined {
    return this.#blocks.findLast((block) => block.isOpen && block.kind === kind && block.id === id);
  }

  #begin(kind: BlockKind, id: string): SdkBlock {
    const at = `${kind} ${this.#blocks.length}`;
    const thought = this.#blocks.findLast((block) => block.kind === 'reasoning');
    const block: SdkBlock = { kind, id, at, text: '', isOpen: true, options: undefined, thought, texts: [] };
    this.#blocks.push(block);
    return block;
  }

  #attach(block: SdkBlock, { providerMetadata }: { readonly providerMetadata?: unknown }): void {
    if (providerMetadata !== undefined) this.#calls.push(...attachMetadata(block, providerMetadata));
  }

  #close(block: SdkBlock, part: { readonly providerMetadata?: unknown }): void {
    block.isOpen = false;
    this.#attach(block, part);
    if (block.kind === 'call') this.#attach(block, { providerMetadata: this.#extras.metadataOf(block.id) });
    this.#say('close', block.at);
  }

  #contentOf(kind: BlockKind): string {
    return this.#blocks.map((block) => (block.kind === kind ? block.text : '')).join('');
  }
}

/** Converts a thrown error. Unless the service failed, it means that the SDK could not read its input. */
export function thrown(error: unknown): SinkPayload {
  const { statusCode, message } = fieldsOf(error);
  return typeof statusCode === 'number' ? failure(error) : malformedResponse(message);
}

function kindOf({ type }: { readonly type: string }): 'text' | 'reasoning' {
  return type.startsWith('text') ? 'text' : 'reasoning';
}

/** Returns the failure of a response that cannot be trusted. */
export function malformedResponse(why: unknown): SinkCall {
  return ['fail', { kind: 'broken', message: `The response cannot be parsed: ${String(why).slice(0, 300)}` }];
}

function failure(error: unknown): SinkPayload {
  const { name, message, cause } = fieldsOf(error);
  const misfit = [error, cause].map(fieldsOf).find((one) => one['name'] === 'AI_TypeValidationError')?.[
    'value'
  ];
  // An event that matches no schema of the SDK is unknown. Only an error is certain to be data.
  if (misfit !== undefined && (fieldsOf(misfit)['error'] ?? null) === null) return Object.assign({}, misfit);
  if (/^AI_(TypeValidation|JSONParse|InvalidResponseData)Error$/.test(String(name)))
    return malformedResponse(message);
  return ['fail', streamFault(error)];
}

function textsIn(items: readonly Fields[], type: string, field: string): string {
  return items
    .flatMap((item) => (item['type'] === type ? listIn(item[field]) : []))
    .map(fieldsOf)
    .map(({ text, refusal }) => textIn(text) ?? textIn(refusal) ?? '')
    .join('');
}

/** Returns whether two texts are equal, or the same JSON written in different ways. */
function isSameJson(...texts: readonly [string, string]): boolean {
  try {
    const [left, right] = texts.map((text) => JSON.stringify(JSON.parse(text)));
    return left === right;
  } catch {
    return texts[0] === texts[1];
  }
}

interface SdkBlock {
  readonly kind: BlockKind;
  /** The SDK's id of the part. Services reuse ids of parts that have ended. */
  readonly id: string;
  readonly at: string;
  /** The text, the reasoning or the arguments so far. */
  text: string;
  isOpen: boolean;
  /** The provider data attached so far. */
  options: Options | undefined;
  /** The preceding reasoning block. */
  readonly thought: SdkBlock | undefined;
  /** For reasoning: the data attached to the texts after it. */
  readonly texts: Options[];
}

/**
 * Adds data that a provider attaches to a block and expects back. It arrives in several parts, and each may be the
 * last. A text part has no field for it, so its data is stored in the reasoning before it, or in a separate part after
 * it. Ids are useful only with reasoning, because the service then looks for the items that follow; without reasoning
 * they are omitted.
 */
function attachMetadata(block: SdkBlock, metadata: unknown): SinkCall[] {
  block.options = mergedOptions(block.options, metadata);
  if (block.kind === 'text' || (block.kind === 'call' && !isNeeded(block))) return [];
  return [['seal', block.at, sealOf(block.kind, block.options, block.texts)]];
}

/** Stores the data of a text that is complete. */
function attachedText(block: SdkBlock): SinkCall[] {
  const { at, kind, options, text, thought } = block;
  if (kind !== 'text' || options === undefined || text === '' || !isNeeded(block)) return [];
  if (thought === undefined) return [['seal', `${at} attached`, sealOf(kind, options)]];
  thought.texts.push(options);
  return [['seal', thought.at, sealOf('reasoning', thought.options, thought.texts)]];
}

function isNeeded({ thought, options }: SdkBlock): boolean {
  return thought !== undefined || !isIdAlone(options);
}

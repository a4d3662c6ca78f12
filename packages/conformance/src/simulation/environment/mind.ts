import type { StopReason, Usage } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';
import type { ReadRequest, ScriptAnswer, ScriptBlock } from '@cobbler/agent/testing';
import { callBlock, seededRandom } from '@cobbler/agent/testing';
import { defined } from '@cobbler/agent/values';
import { randomText } from '../../random/random-value.ts';
import type { Choices } from '../scenario/choices.ts';
import { summaryOf } from '../scenario/record.ts';
import type { BlobLocation } from '../scenario/repeatable-tools.ts';
import { latestLook, placesLeftOut, readingTool, repeatable } from '../scenario/repeatable-tools.ts';

/** The reason why a call must never run. */
export type Flaw = 'json' | 'array' | 'schema' | 'prototype' | 'unknown tool' | 'not released';

/** A call made by the model. */
export interface MadeCall {
  /** A number in the arguments that identifies the call everywhere. */
  readonly n: number;
  readonly toolName: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly flaw?: Flaw;
}

/** The input of every response to one request. */
export interface ResponseInput {
  /** Unique in the simulation. It is part of the model name of the response. */
  readonly request: number;
  readonly read: ReadRequest;
  /** Size of the request in tokens. */
  readonly bytes: number;
}

/** The tool that returns structured output if the service does not support schemas. */
export const answerTool = 'answer';

/** A simulated model with random responses. */
export class Mind {
  readonly #choices: Choices;
  readonly #seed: number;
  readonly #isEager: boolean;
  readonly #made = new Map<number, MadeCall>();
  #count = 0;

  /**
   *
   * @param isEager true if it usually starts with tool calls.
   */
  constructor(choices: Choices, seed: number, isEager = false) {
    this.#choices = choices;
    this.#seed = seed;
    this.#isEager = isEager;
  }

  /** Returns the call with this number. */
  call(n: unknown): MadeCall | undefined {
    return typeof n === 'number' ? this.#made.get(n) : undefined;
  }

  answer(thought: ResponseInput): ScriptAnswer {
    const choices = this.#choices;
    if (isForNotes(thought.read)) return this.#notes(thought);
    const habit = this.#habit(thought);
    if (habit !== undefined) return this.#calling(thought, habit);
    const kind = choices.among('answer', this.#kinds(thought));
    if (kind === 'complete' && thought.read.tools.some(({ name }) => name === answerTool)) {
      if (!choices.whether('no answer given', 0.2)) return this.#givenByCall(thought);
    }
    const blocks: ScriptBlock[] = [];
    if (choices.whether('thinks', 0.15)) {
      const seal = choices.whether('sealed', 0.7) ? { seal: `seal-${thought.request}` } : {};
      blocks.push({ type: 'reasoning', text: this.#words('thought', thought.request), ...seal });
    }
    const speaks = kind !== 'calls' || choices.whether('speaks first', 0.4);
    if (speaks) blocks.push({ type: 'text', text: this.#text(thought) });
    const calls = kind === 'calls' || (kind !== 'complete' && choices.whether('odd calls', 0.5));
    if (calls) blocks.push(...this.#calls(thought, kind === 'calls'));
    return {
      blocks,
      stop: kind === 'calls' ? 'tool_use' : kind,
      usage: this.#usage(thought, blocks),
      model: `model-${thought.request}`,
    };
  }

  #kinds({ read }: ResponseInput): readonly (readonly [number, ResponseKind])[] {
    if (read.toolChoice === 'none') return closing;
    return this.#isEager && read.turns.length === 1 ? eager : kinds;
  }

  #givenByCall(thought: ResponseInput): ScriptAnswer {
    return this.#calling(thought, [this.#call(`call_${thought.request}`, answerTool, true)]);
  }

  /** Returns a response that consists only of calls. */
  #calling(thought: ResponseInput, blocks: readonly ScriptBlock[]): ScriptAnswer {
    return {
      blocks,
      stop: 'tool_use',
      usage: this.#usage(thought, blocks),
      model: `model-${thought.request}`,
    };
  }

  /** Repeats the last call or reads an offloaded part, as models do. */
  #habit({ read, request }: ResponseInput): ScriptBlock[] | undefined {
    const choices = this.#choices;
    if (read.toolChoice === 'none') return undefined;
    const again = latestLook(read).filter(({ input }) => this.#isFit(input));
    if (again.length > 0 && choices.whether('looks again', 0.8))
      return again.map(({ name, input }, index) =>
        callBlock(`again_${request}_${index}`, name, JSON.stringify(input)),
      );
    const place = placesLeftOut(read).at(-1);
    const reads = read.tools.some(({ name }) => name === readingTool);
    if (place !== undefined && reads && choices.whether('reads on', 0.5))
      return [callBlock(`read_${request}`, readingTool, this.#reading(place))];
    const names = read.tools.map(({ name }) => name).filter((name) => repeatable.has(name));
    if (names.length === 0 || !choices.whether('looks', 0.2)) return undefined;
    const count = choices.between('looks at', 1, 2);
    return Array.from({ length: count }, (_, index) =>
      this.#call(`look_${request}_${index}`, choices.pick('look', names), true),
    );
  }

  /** Checks that the call with these arguments was valid. */
  #isFit(input: unknown): boolean {
    const made = isObject(input) ? this.call(input['n']) : undefined;
    return made !== undefined && made.flaw === undefined;
  }

  #reading({ id, offset }: BlobLocation): string {
    const choices = this.#choices;
    const bytes = choices.pick('how much is read', [undefined, 100, 1, 32_768, 40_000]);
    const args = choices.among<Record<string, unknown>>('what is read', [
      [80, { id, offset }],
      [10, { id }],
      [5, { id, offset: 900_000_000 }],
      [5, { id: `no-${id}`, offset }],
    ]);
    return JSON.stringify({ ...args, ...defined({ bytes }) });
  }

  /** Returns a response to a summary request, which is usually a summary. */
  #notes(thought: ResponseInput): ScriptAnswer {
    const stop = this.#choices.among<StopReason>('notes', [
      [9, 'complete'],
      [1, 'max_tokens'],
    ]);
    const blocks: ScriptBlock[] = [{ type: 'text', text: summaryOf(thought.read.turns) }];
    return { blocks, stop, usage: this.#usage(thought, blocks), model: `model-${thought.request}` };
  }

  #text({ request, read }: ResponseInput): string {
    if (read.output !== undefined && !this.#choices.whether('wrong shape', 0.2)) return `{"n":${request}}`;
    return this.#words('answer', request);
  }

  #words(what: string, request: number): string {
    const plain = `The ${what} of request ${request}.`;
    if (!this.#choices.whether('odd text', 0.2)) return plain;
    return `${plain} ${randomText(seededRandom(this.#seed * 31 + request))}`;
  }

  #calls({ request, read }: ResponseInput, released: boolean): ScriptBlock[] {
    const ids = this.#choices.among<'own' | 'same' | 'none'>('call ids', [
      [8, 'own'],
      [1, 'same'],
      [1, 'none'],
    ]);
    const isOrdinary = (name: string) => name !== readingTool && !repeatable.has(name);
    const names = read.tools.map(({ name }) => name).filter(isOrdinary);
    const count = this.#choices.between('calls', 1, 4);
    return Array.from({ length: count }, (_, index) => {
      const id = { own: `call_${request}_${index}`, same: 'call-1', none: '' }[ids];
      return this.#call(id, this.#choices.pick('call', names), released);
    });
  }

  #call(id: string, toolName: string, released: boolean): ScriptBlock {
    this.#count += 1;
    const n = this.#count;
    const flaw = this.#choices.among<Flaw | undefined>('flaw', flaws);
    const args: Record<string, unknown> =
      toolName === answerTool && flaw === undefined ? { n } : { n, note: `call ${n}` };
    if (flaw === 'schema') args['nobody'] = 'knows this';
    const name = flaw === 'unknown tool' ? `no_${toolName}` : toolName;
    const unfit = flaw ?? (released ? undefined : 'not released');
    this.#made.set(n, { n, toolName: name, arguments: args, ...defined({ flaw: unfit }) });
    return callBlock(id, name, inputOf(args, flaw));
  }

  /** Returns plausible token counts: input never exceeds the size of the request. */
  #usage({ bytes, read }: ResponseInput, blocks: readonly ScriptBlock[]): Usage {
    const size = blocks.reduce((sum, block) => sum + ('text' in block ? block.text : block.input).length, 0);
    const inputTokens = Math.ceil(bytes / 4);
    const maxTokens = read.maxTokens ?? Number.POSITIVE_INFINITY;
    const outputTokens = Math.min(
      maxTokens,
      Math.ceil(size / 4) + this.#choices.between('more tokens', 1, 40),
    );
    if (!this.#choices.whether('usage details', 0.3)) return { inputTokens, outputTokens };
    return {
      inputTokens,
      outputTokens,
      cacheReadTokens: Math.floor(inputTokens / 2),
      cacheWriteTokens: Math.floor(inputTokens / 4),
      reasoningTokens: Math.min(outputTokens, 7),
    };
  }
}

/** A request without tools is a summary request, because runs always declare their tools. */
export function isForNotes(read: ReadRequest): boolean {
  return read.tools.length === 0;
}

type ResponseKind = 'calls' | Exclude<StopReason, 'tool_use'>;

const odd: readonly (readonly [number, ResponseKind])[] = [
  [4, 'pause'],
  [2, 'max_tokens'],
  [2, 'refusal'],
  [1, 'context_full'],
  [1, 'unknown'],
];
const kinds: readonly (readonly [number, ResponseKind])[] = [[40, 'complete'], [60, 'calls'], ...odd];
const eager: readonly (readonly [number, ResponseKind])[] = [
  [10, 'complete'],
  [90, 'calls'],
];
/** If calls are forbidden, the model usually makes none. */
const closing: readonly (readonly [number, ResponseKind])[] = [[65, 'complete'], [25, 'calls'], ...odd];

const flaws: readonly (readonly [number, Flaw | undefined])[] = [
  [90, undefined],
  [2, 'json'],
  [2, 'array'],
  [3, 'schema'],
  [1, 'prototype'],
  [2, 'unknown tool'],
];

function inputOf(args: Record<string, unknown>, flaw: Flaw | undefined): string {
  const text = JSON.stringify(args);
  if (flaw === 'json') return text.slice(0, -1);
  if (flaw === 'array') return `[${text}]`;
  if (flaw === 'prototype') return `${text.slice(0, -1)},"__proto__":{}}`;
  return text;
}

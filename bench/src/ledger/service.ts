import type { RawResponse, Transport } from '@cobbler/agent/provider';
import type { Frame, ProviderTesting, ReadRequest, ScriptAnswer, ScriptBlock } from '@cobbler/agent/testing';
import { framesOf, joinFrames, replies, responseSteps, scriptResponse } from '@cobbler/agent/testing';
import type { Bill } from './bill.ts';
import { addBills, noBill, tokensOf } from './bill.ts';
import type { PromptCache } from './caches.ts';
import type { Prompt } from './prompt.ts';
import { tokensFor } from './prompt.ts';

/** The model's response to one request, or a failure. */
export interface Reply {
  readonly blocks: readonly (string | ScriptBlock)[];
  /**
   * `overloaded` returns no response and costs nothing; `cut` breaks the stream before its end; `stalled` sends the same
   * and then nothing, until the client hangs up.
   */
  readonly trouble?: 'overloaded' | 'cut' | 'stalled';
  /** Called once the client has received everything that a stalled response sends. */
  readonly onStall?: () => void;
}

/** Returns the reply of the simulated model. */
export type Mind = (request: ReadRequest, index: number) => Reply;

/** One request in the service's ledger. */
export interface Entry {
  readonly outcome: 'answered' | 'cut' | 'overloaded';
  readonly bill: Bill;
  readonly outputTokens: number;
}

/** A service in memory: its request format, its cache and its model. */
export interface ServiceParts {
  readonly testing: ProviderTesting;
  readonly prompt: (body: Readonly<Record<string, unknown>>) => Prompt;
  readonly cache: PromptCache;
  readonly now: () => number;
  readonly mind: Mind;
  /** Changes a body before it is read, to show the cost of another policy. */
  readonly edit?: ((body: Record<string, unknown>) => void) | undefined;
}

/** Responds to the real requests of a provider and keeps a ledger of their costs. */
export class LedgerService {
  readonly entries: Entry[] = [];
  readonly #parts: ServiceParts;

  constructor(parts: ServiceParts) {
    this.#parts = parts;
  }

  readonly transport: Transport = ({ body }) => {
    const decoder = new TextDecoder();
    const text = body.map((range) => decoder.decode(range, { stream: true })).join('') + decoder.decode();
    const parsed = JSON.parse(text) as Record<string, unknown>;
    this.#parts.edit?.(parsed);
    return Promise.resolve(this.#answer(parsed));
  };

  /** Returns the input of all answered requests, or of all that were cut. */
  input(outcome: 'answered' | 'cut'): Bill {
    return addBills(this.#of(outcome).map(({ bill }) => bill));
  }

  output(outcome: 'answered' | 'cut'): number {
    return this.#of(outcome).reduce((sum, { outputTokens }) => sum + outputTokens, 0);
  }

  /** Everything that the service charges, including the tokens of cut responses. */
  get bill(): Bill {
    return addBills(this.entries.map(({ bill }) => bill));
  }

  /** All tokens, input and output, of answered and cut requests. */
  get tokens(): number {
    return tokensOf(this.bill) + this.output('answered') + this.output('cut');
  }

  #of(outcome: Entry['outcome']): Entry[] {
    return this.entries.filter((entry) => entry.outcome === outcome);
  }

  #answer(body: Record<string, unknown>): RawResponse {
    const { testing, prompt, cache, now, mind } = this.#parts;
    const refusal = testing.refuse(body);
    if (refusal !== undefined) throw new Error(`The service rejects the request: ${refusal.body}`);
    const request = testing.read(body);
    const reply = mind(request, this.entries.length);
    if (reply.trouble === 'overloaded') {
      this.entries.push({ outcome: 'overloaded', bill: noBill, outputTokens: 0 });
      const { status, headers, body: words } = testing.error({ kind: 'busy', message: 'Too busy.' }, '');
      return this.#response(status, headers, [words], 'end');
    }
    const bill = cache.bill(prompt(body), now());
    const whole = scriptResponse(reply.blocks, { model: request.model });
    const answer = withUsage(shortened(whole, request.maxTokens), bill);
    const isCut = reply.trouble !== undefined;
    const { outputTokens } = answer.usage;
    this.entries.push({ outcome: isCut ? 'cut' : 'answered', bill, outputTokens });
    const steps = isCut ? { steps: responseSteps(answer).filter(({ type }) => type !== 'end') } : {};
    const frames = framesOf(replies(answer, steps), testing);
    const ending = reply.trouble === 'stalled' ? (reply.onStall ?? 'reset') : isCut ? 'reset' : 'end';
    return this.#response(200, { 'content-type': testing.contentType }, frames, ending);
  }

  #response(
    status: number,
    headers: Readonly<Record<string, string>>,
    chunks: readonly Frame[],
    ending: 'end' | 'reset' | (() => void),
  ): RawResponse {
    let hangUp: () => void = () => undefined;
    const closed = new Promise<void>((resolve) => {
      hangUp = resolve;
    });
    return {
      status,
      header: (name) => headers[name],
      headerNames: Object.keys(headers),
      read: async (onChunk) => {
        for (const chunk of chunks) onChunk(joinFrames([chunk]));
        if (typeof ending === 'function') {
          for (let round = 0; round < readingRounds; round += 1) await nextRound();
          ending();
          await closed;
        }
        if (ending !== 'end') throw new Error('The connection breaks here.');
      },
      close: hangUp,
    };
  }
}

/** A client that reads through web streams needs some rounds of the event loop, and fewer than let the clock advance. */
const readingRounds = 3;

const nextRound = () => new Promise((resolve) => setImmediate(resolve));

/** Returns a response, cut to the maximum length of the request. */
function shortened(answer: ScriptAnswer, maxTokens: number | undefined): ScriptAnswer {
  if (maxTokens === undefined || outputOf(answer) <= maxTokens) return answer;
  const text = answer.blocks
    .map(textOf)
    .join('')
    .slice(0, maxTokens * 4);
  return { ...answer, blocks: [{ type: 'text', text }], stop: 'max_tokens' };
}

function outputOf(answer: ScriptAnswer): number {
  return tokensFor(answer.blocks.reduce((sum, block) => sum + textOf(block).length, 0));
}

function textOf(block: ScriptBlock): string {
  return block.type === 'call' ? block.input : block.text;
}

function withUsage(answer: ScriptAnswer, bill: Bill): ScriptAnswer {
  const written = bill.write + bill.writeLong;
  return {
    ...answer,
    usage: {
      inputTokens: tokensOf(bill),
      outputTokens: outputOf(answer),
      cacheReadTokens: bill.read,
      cacheWriteTokens: written,
      cacheWriteLongTokens: bill.writeLong,
    },
  };
}

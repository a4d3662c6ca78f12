import type { Event, ToolResultEvent, Usage } from '@cobbler/agent';
import { noUsage } from '@cobbler/agent';
import { promptWords } from '../past-lines.ts';

/** One answer of the model, as it was paid for. */
export interface Turn {
  readonly usage: Usage;
  readonly wasted: Usage;
  readonly usd?: number;
}

/** A file that a run changed, in a unified diff. */
export interface FileChange {
  readonly path: string;
  readonly diff: string;
}

/** A call that a person was asked about. */
export type AskedEvent = Extract<Event, { type: 'approval_requested' }>;

/** What happened from one prompt to the next. */
export interface RunRecord {
  /** More than one when it was stopped and gone on with. */
  readonly runIds: Set<string>;
  /** The event of the prompt. */
  readonly seq: number;
  readonly prompt: string;
  readonly changes: FileChange[];
  turns: number;
}

/** What a chat knows of its conversation from the events alone: for `/cost`, `/diff`, `/undo` and the status line. */
export class Ledger {
  readonly turns: Turn[] = [];
  readonly runs: RunRecord[] = [];
  /** Calls that wait for a person. */
  readonly asked: Map<string, AskedEvent> = new Map();
  model: string | undefined;
  lastAnswer = '';
  lastResult: ToolResultEvent | undefined;
  /** The last event. */
  seq = 0;
  compactions = 0;

  /** Hears an event once. */
  hear(event: Event): void {
    if (event.seq <= this.seq) return;
    this.seq = event.seq;
    this.runs.at(-1)?.runIds.add(event.runId);
    switch (event.type) {
      case 'user':
        if (event.steer !== true) this.#begin(event);
        break;
      case 'assistant':
        this.#answered(event);
        break;
      case 'tool_result':
        this.lastResult = event;
        if (event.diff !== undefined && !event.isError) this.#changed(event.diff);
        break;
      case 'approval_requested':
        this.asked.set(event.approvalId, event);
        break;
      case 'approval_decided':
        this.asked.delete(event.approvalId);
        break;
      case 'compacted':
        if (event.upTo > 0) this.compactions += 1;
        break;
    }
  }

  /** Tokens of the conversation as the model counted them last. */
  get contextTokens(): number {
    const last = this.turns.at(-1)?.usage;
    return last === undefined ? 0 : last.inputTokens + last.outputTokens;
  }

  /** US dollars so far; nothing when the price of an answer is unknown. */
  get usd(): number | undefined {
    return this.turns.reduce<number | undefined>(
      (sum, { usd }) => (sum === undefined || usd === undefined ? undefined : sum + usd),
      0,
    );
  }

  #begin(event: Extract<Event, { type: 'user' }>): void {
    const runIds = new Set([event.runId]);
    this.runs.at(-1)?.runIds.delete(event.runId);
    this.runs.push({ runIds, seq: event.seq, prompt: promptWords(event.content), changes: [], turns: 0 });
  }

  #answered(event: Extract<Event, { type: 'assistant' }>): void {
    const { usage, wasted = noUsage, usd, model } = event;
    this.turns.push({ usage, wasted, ...(usd !== undefined && { usd }) });
    this.model = model;
    const run = this.runs.at(-1);
    if (run !== undefined) run.turns += 1;
    const text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (text.trim() !== '') this.lastAnswer = text;
  }

  #changed(diff: string): void {
    const path = /^\+\+\+ (?:b\/)?([^\t\n]+)/m.exec(diff)?.[1] ?? 'a file';
    this.runs.at(-1)?.changes.push({ path, diff });
  }
}

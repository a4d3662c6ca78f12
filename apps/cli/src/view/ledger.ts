import type { Event, Usage } from '@cobbler/agent';
import { addUsage, noUsage } from '@cobbler/agent';
import type { AssistantEvent, ToolResultEvent } from '@cobbler/agent/events';
import { addUsd, ignore, spendingOf } from '@cobbler/agent/events';
import { diffPath } from './diff-lines.ts';
import { promptWords } from './history-lines.ts';

/** The usage and cost of one model response. */
export type PaidResponse = Pick<AssistantEvent, 'usage' | 'wasted' | 'usd'>;

/** A file that a run changed, as a unified diff. */
export interface FileChange {
  readonly path: string;
  readonly diff: string;
}

/** A call that a user was asked about. */
export type ApprovalRequestEvent = Extract<Event, { type: 'approval_requested' }>;

/** The events of one prompt. */
export interface PromptRecord {
  /** More than one if the run was stopped and continued. */
  readonly runIds: Set<string>;
  readonly seq: number;
  readonly prompt: string;
  /** When it was sent, in ISO 8601. */
  readonly time: string;
  readonly changes: FileChange[];
  /** The model's thinking, as far as the service shows it. */
  readonly thoughts: string[];
  turns: number;
}

/** The state of a chat's conversation, computed from its events: for `/cost`, `/diff`, `/undo` and the status line. */
export class Ledger {
  /** The responses that this conversation paid for, without those that a fork has copied. */
  readonly turns: PaidResponse[] = [];
  readonly runs: PromptRecord[] = [];
  /** Calls that wait for a user. */
  readonly openApprovals: Map<string, ApprovalRequestEvent> = new Map();
  model: string | undefined;
  lastAnswer = '';
  lastResult: ToolResultEvent | undefined;
  /** Tokens of the conversation, as last counted by the model. */
  contextTokens = 0;
  /** Total usage, including summaries. */
  usage: Usage = noUsage;
  /** Usage of requests without a response: failed attempts, and cancelled responses. */
  wasted: Usage = noUsage;
  /** US dollars; undefined if a price is unknown. */
  usd: number | undefined = 0;
  /** The `seq` of the last event. */
  seq = 0;
  compactions = 0;

  /** Processes an event once. */
  handle(event: Event): void {
    if (event.seq <= this.seq) return;
    this.seq = event.seq;
    this.runs.at(-1)?.runIds.add(event.runId);
    this.#spend(event);
    switch (event.type) {
      case 'user':
        if (event.steer !== true) this.#begin(event);
        break;
      case 'assistant':
        return this.#addResponse(event);
      case 'tool_result':
        this.lastResult = event;
        if (event.diff !== undefined && !event.isError) this.#addChange(event.diff);
        break;
      case 'approval_requested':
        this.openApprovals.set(event.approvalId, event);
        break;
      case 'approval_decided':
        this.openApprovals.delete(event.approvalId);
        break;
      case 'stop_requested':
        // The calls of a run that is being cancelled never start, whatever a user decides.
        if (event.reason !== 'limit') this.openApprovals.clear();
        break;
      case 'compacted':
        if (event.upTo === 0) break;
        this.compactions += 1;
        this.contextTokens = event.tokensAfter ?? this.contextTokens;
        break;
      default:
        ignore<'input' | 'response' | 'call' | 'note' | 'end'>(event);
    }
  }

  /** Takes over the costs of a conversation that this one replaces. */
  carry({ turns, usage, wasted, usd }: Pick<Ledger, 'turns' | 'usage' | 'wasted' | 'usd'>): void {
    this.turns.unshift(...turns);
    this.#add({ usage, wasted, usd });
  }

  #spend(event: Event): void {
    const spent = spendingOf(event);
    if (spent === undefined) return;
    this.#add({ usd: undefined, ...spent });
    if (event.type === 'assistant') this.turns.push(event);
  }

  #add({ usage, wasted, usd }: Pick<Ledger, 'usage' | 'wasted' | 'usd'>): void {
    this.usage = addUsage(this.usage, usage);
    this.wasted = addUsage(this.wasted, wasted);
    this.usd = addUsd(this.usd, usd);
  }

  #begin(event: Extract<Event, { type: 'user' }>): void {
    const runIds = new Set([event.runId]);
    this.runs.at(-1)?.runIds.delete(event.runId);
    const { seq, time, content } = event;
    this.runs.push({ runIds, seq, time, prompt: promptWords(content), changes: [], thoughts: [], turns: 0 });
  }

  #addResponse(event: Extract<Event, { type: 'assistant' }>): void {
    this.contextTokens = event.usage.inputTokens + event.usage.outputTokens;
    this.model = event.model;
    const run = this.runs.at(-1);
    if (run !== undefined) run.turns += 1;
    for (const part of event.content)
      if (part.type === 'reasoning' && part.text.trim() !== '') run?.thoughts.push(part.text);
    const text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (text.trim() !== '') this.lastAnswer = text;
  }

  #addChange(diff: string): void {
    const path = diffPath(diff) ?? 'a file';
    this.runs.at(-1)?.changes.push({ path, diff });
  }
}

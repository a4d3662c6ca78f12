import type { Event, Run, RunEvent, RunResult, Usage } from '@cobbler/agent';
import type { Program } from './program.ts';

/** One model call with all its requests. */
export interface SimulatedModelCall {
  /** The number of earlier requests of its program. */
  readonly from: number;
  readonly startedAt: number;
  /** The usage and waste that the agent reported in its response or error. */
  spent?: { readonly used: Usage; readonly wasted: Usage };
  /** The model of the response. */
  model?: string;
  /** True if it requested a summary and the response cannot be used. */
  inVain?: boolean;
}

/** One execution of a tool. */
export interface Execution {
  /** The number of the call. */
  readonly n: number;
  readonly toolName: string;
  readonly record: SimulatedRun;
  readonly signal: AbortSignal;
  /** The outcome of the tool before it was stopped. */
  settled?: 'value' | 'error';
}

/** A stop that the run accepted. */
export interface StopReport {
  readonly at: number;
  /** With `signal`, it is unknown whether the stop came in time. */
  readonly by: 'cancel' | 'signal' | 'deadline';
}

/** A decision about an approval, and whether the run said that it counts. */
export interface ApprovalReply {
  readonly approvalId: string;
  readonly decision: 'allow' | 'deny';
  readonly counts: boolean;
}

/** The events that a reader of the run received, and those that it is due. */
export interface ReaderRecord {
  readonly who: string;
  /** The events that it starts with: the past ones and the response so far. */
  readonly start: readonly RunEvent[];
  /** Index of the first event of the run that is emitted after it has joined. */
  readonly from: number;
  readonly events: RunEvent[];
  /** True if the reader stopped early. */
  left: boolean;
  ended: boolean;
}

/** All that is known about one run in one program. */
export interface SimulatedRun {
  readonly name: string;
  readonly program: Program;
  readonly sessionId: string;
  /** Ids of earlier runs of the session that this one resumes. */
  readonly before: readonly string[];
  readonly startedAt: number;
  readonly run: Run;
  readonly events: RunEvent[];
  readonly readings: ReaderRecord[];
  readonly calls: SimulatedModelCall[];
  readonly executions: Execution[];
  /** Marks of the accepted messages. */
  readonly accepted: string[];
  readonly stops: StopReport[];
  /** The time of the first attempt to stop the run, accepted or not. */
  pressedAt?: number;
  readonly replies: ApprovalReply[];
  /** Ids of the pending approvals. */
  readonly asking: Set<string>;
  /** Milliseconds that users took to decide. */
  waitedMs: number;
  /** The time since which a user has been deciding. */
  waitsSince?: number;
  /** True if the end was passed to the store before this moment, or could not be. */
  closing: boolean;
  result?: RunResult;
  endedAt?: number;
  /** True if the run has claimed its session and then read it. */
  claimed?: boolean;
  read?: boolean;
  /** Sequence number of the last event that it has read. Another run may have appended more before it lost the session. */
  known?: number;
  /** True if the run ended before it had read its session. */
  blind?: boolean;
  /** True if the user did not wait until the end was stored, so it may never be. */
  hasty?: boolean;
}

/** Returns a mark for a text that must not get lost. */
export function mark(what: string): string {
  return `[[${what}]]`;
}

/** Returns the marks in any value. */
export function marksIn(value: unknown): string[] {
  return JSON.stringify(value).match(/\[\[[a-z]+ [0-9]+\]\]/g) ?? [];
}

/** Returns a summary that contains all marks. */
export function summaryOf(messages: unknown): string {
  return `In short: ${[...new Set(marksIn(messages))].join(' ')}`;
}

/**
 * Returns the runs that this one continues and whose usage counts for it, oldest first: the last one with a
 * new prompt and those that resumed it. One of them may have started later, but claimed the session earlier.
 */
export function chainOf(events: readonly Event[], { before, run, known }: SimulatedRun): string[] {
  let chain: string[] = [];
  for (const { runId, type } of before.length > 0 ? events.slice(0, known) : []) {
    if (runId === run.id) break;
    if (chain.at(-1) === runId) continue;
    chain = type === 'resumed' ? [...chain, runId] : [runId];
  }
  return chain;
}

import type { Event, Run, RunEvent, RunResult, Usage } from '@cobbler/agent';
import type { Program } from './program.ts';

/** One call of the model: as many requests as it took. */
export interface SimulatedModelCall {
  /** How many requests of its program had reached the service before it. */
  readonly from: number;
  readonly begunAt: number;
  /** What the agent said that it has used and wasted, once it has answered or failed. */
  spent?: { readonly used: Usage; readonly wasted: Usage };
  /** The model that answered. */
  model?: string;
  /** It asked for a summary and got one that cannot be used. */
  inVain?: boolean;
}

/** One time that a tool ran. */
export interface Execution {
  /** The number of the call. */
  readonly n: number;
  readonly toolName: string;
  readonly record: SimulatedRun;
  readonly signal: AbortSignal;
  /** What the tool came to before anybody told it to stop. */
  settled?: 'value' | 'error';
}

/** Somebody told the run to stop, and was told that it would. */
export interface StopReport {
  readonly at: number;
  /** `signal`: nobody can say whether it came in time. */
  readonly by: 'cancel' | 'signal' | 'deadline';
}

/** An answer to an approval, and whether the run said that it counts. */
export interface ApprovalReply {
  readonly approvalId: string;
  readonly decision: 'allow' | 'deny';
  readonly counts: boolean;
}

/** What a reader of the run got. */
export interface ReaderRecord {
  readonly who: string;
  readonly events: RunEvent[];
  /** It went away by itself. */
  left: boolean;
  ended: boolean;
}

/** Everything that is known about one run in one program. */
export interface SimulatedRun {
  readonly name: string;
  readonly program: Program;
  readonly sessionId: string;
  /** Earlier runs of the session, if this one takes up what they have left. */
  readonly before: readonly string[];
  readonly startedAt: number;
  readonly run: Run;
  readonly events: RunEvent[];
  readonly readings: ReaderRecord[];
  readonly calls: SimulatedModelCall[];
  readonly executions: Execution[];
  /** Marks of what was said and heard. */
  readonly heard: string[];
  readonly stops: StopReport[];
  /** When somebody first wanted the run to end, heard or not. */
  pressedAt?: number;
  readonly replies: ApprovalReply[];
  /** Approvals that wait for a person. */
  readonly asking: Set<string>;
  /** Milliseconds that people took. */
  waitedMs: number;
  /** When people began to think, if they do now. */
  waitsSince?: number;
  /** The end was given to the store before this moment, or could not be. */
  closing: boolean;
  result?: RunResult;
  endedAt?: number;
  /** It has taken its session over, and then read it. */
  claimed?: boolean;
  read?: boolean;
  /** It ended before it had read its session. */
  blind?: boolean;
  /** Its user went on before its end was written down, so that it never may be. */
  hasty?: boolean;
}

/** What stands in a text for something that must not get lost. */
export function mark(what: string): string {
  return `[[${what}]]`;
}

/** The marks in any value. */
export function marksIn(value: unknown): string[] {
  return JSON.stringify(value).match(/\[\[[a-z]+ [0-9]+\]\]/g) ?? [];
}

/** A summary in which nothing gets lost. */
export function summaryOf(messages: unknown): string {
  return `In short: ${[...new Set(marksIn(messages))].join(' ')}`;
}

/**
 * The runs that this one goes on with and whose use counts for it, oldest first: the last that began with
 * something new, and those that took it up again.
 */
export function chainOf(events: readonly Event[], { before }: SimulatedRun): string[] {
  let chain: string[] = [];
  for (const { runId, type } of events) {
    if (!before.includes(runId) || chain.at(-1) === runId) continue;
    chain = type === 'resumed' ? [...chain, runId] : [runId];
  }
  return chain;
}

import type { Reader } from '../values/input.ts';
import { limited, listOf, oneOf, read, record, text, when } from '../values/input.ts';
import { maxOutputBytes } from '../values/sizes.ts';

/** A user's decision about an approval. */
export interface ApprovalDecision {
  readonly decision: 'allow' | 'deny';
  /** The reason that the model sees, if the decision is `deny`; at most 256 KiB. */
  readonly message?: string;
  /**
   * How much more the limit that was reached allows, if the decision is `allow`: US dollars, tokens or requests. Default:
   * what the question offers. Has no effect for a call.
   */
  readonly more?: number;
  /** Who decided, for the log; at most 1 KiB. */
  readonly by?: string;
}

/** A user's decision, with the id of its approval. */
export interface NamedDecision extends ApprovalDecision {
  readonly approvalId: string;
}

const positive: Reader<number> = when(
  (value) => typeof value === 'number' && value > 0 && Number.isFinite(value),
  'a number above 0',
);
const decisionFields = {
  decision: oneOf('allow', 'deny'),
  message: limited(maxOutputBytes, text),
  more: positive,
  by: limited(1024, text),
} as const;
const decisionReader = record<ApprovalDecision>(decisionFields, ['decision']);
const namedReader = record<NamedDecision>({ ...decisionFields, approvalId: text }, [
  'approvalId',
  'decision',
]);

/**
 * Reads a decision about an approval. Anything that is not clearly an allow or a deny is rejected.
 * @throws AgentError `invalid`, code `bad_decision`.
 */
export function readDecision(value: unknown): ApprovalDecision {
  return read(value, decisionReader, 'answer', 'bad_decision');
}

/** Reads decisions about several approvals. @throws AgentError `invalid`, code `bad_decision`. */
export function readDecisions(value: unknown): readonly NamedDecision[] {
  return read(value, listOf(namedReader), 'answers', 'bad_decision');
}

/** Tracks the approvals that wait for a user's decision. An approval is taken at most once. */
export class Approvals {
  readonly #monotonic: () => number;
  readonly #began: number;
  readonly #asked = new Map<string, number>();
  readonly #taken = new Set<string>();
  readonly #decided = new Set<string>();
  readonly #waiting = new Map<string, () => void>();

  /** `began` is the time at which the run started. */
  constructor(monotonic: () => number, began: number) {
    this.#monotonic = monotonic;
    this.#began = began;
  }

  /** Records the time at which a user was asked. */
  recordRequest(approvalId: string): void {
    this.#asked.set(approvalId, this.#monotonic());
  }

  /** Takes an approval to decide it. Returns false if it was already taken. */
  take(approvalId: string): boolean {
    if (this.#taken.has(approvalId)) return false;
    this.#taken.add(approvalId);
    return true;
  }

  /** Returns the milliseconds since the user was asked, or since this run started if that was later. */
  waitedMs(approvalId: string): number {
    return this.#monotonic() - (this.#asked.get(approvalId) ?? this.#began);
  }

  /** Marks an approval as decided and wakes its waiter. */
  decide(approvalId: string): void {
    this.#decided.add(approvalId);
    this.#waiting.get(approvalId)?.();
  }

  /** Resolves when the decision is recorded or waiting has ended. */
  decided(approvalId: string, signal: AbortSignal): Promise<void> {
    if (this.#decided.has(approvalId) || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.set(approvalId, resolve));
  }

  /** Ends all waiting. */
  release(): void {
    for (const wake of this.#waiting.values()) wake();
    this.#waiting.clear();
  }
}

import type { BackendProcess } from '../backend/backend.ts';

/** The result of a call. */
interface CallOutcome {
  readonly text: string;
  readonly isError: boolean;
}

/** The decision about one call, and its outcome. */
interface CallState {
  /** The arguments, while the call waits for a decision. */
  requested?: Record<string, unknown>;
  verdict?: { readonly allow: Record<string, unknown> } | { readonly deny: string };
  outcome?: CallOutcome;
  settle?: (outcome: CallOutcome | undefined) => void;
}

/**
 * The calls of one task. The program asks about calls and reports their outcomes; the loop decides on them and
 * waits for the outcomes. These steps can occur in any order.
 */
export class Calls {
  readonly #known: Map<string, CallState> = new Map();
  #process: Pick<BackendProcess, 'decide'> | undefined;
  #isOver = false;

  decideBy(process: Pick<BackendProcess, 'decide'>): void {
    this.#process = process;
    for (const [callId, known] of this.#known) this.#decide(callId, known);
  }

  /** Records that the program asks about a call. */
  noteAsked(callId: string, given: Record<string, unknown>): void {
    const known = this.#stateOf(callId);
    known.requested = given;
    this.#decide(callId, known);
  }

  /** Records the outcome of a call. */
  noteOutcome(callId: string, { text, isError }: CallOutcome): void {
    const known = this.#stateOf(callId);
    known.outcome = { text, isError };
    known.settle?.(known.outcome);
  }

  /** Denies a call for which the loop has written a result. Has no effect on a call that it allowed. */
  deny(callId: string, message: string): void {
    const known = this.#stateOf(callId);
    known.verdict ??= { deny: message };
    this.#decide(callId, known);
  }

  /** Allows a call and waits for its outcome. Rejects if the program ends first. */
  async allow(callId: string, given: Record<string, unknown>, signal: AbortSignal): Promise<CallOutcome> {
    const known = this.#stateOf(callId);
    known.verdict ??= { allow: given };
    this.#decide(callId, known);
    if (known.outcome !== undefined) return known.outcome;
    const outcome = await new Promise<CallOutcome | undefined>((resolve) => {
      known.settle = resolve;
      if (this.#isOver) resolve(undefined);
      signal.addEventListener('abort', () => resolve(undefined), { once: true });
    });
    if (outcome === undefined) throw new Error('The program exited before this call was completed.');
    return outcome;
  }

  /** Records that the program has ended. */
  end(): void {
    this.#isOver = true;
    for (const { settle, outcome } of this.#known.values()) settle?.(outcome);
  }

  #stateOf(callId: string): CallState {
    const known = this.#known.get(callId) ?? {};
    this.#known.set(callId, known);
    return known;
  }

  #decide(callId: string, known: CallState): void {
    const { requested, verdict } = known;
    if (requested === undefined || verdict === undefined || this.#process === undefined) return;
    delete known.requested;
    if ('deny' in verdict) return this.#process.decide(callId, { type: 'deny', message: verdict.deny });
    const isSame = JSON.stringify(verdict.allow) === JSON.stringify(requested);
    this.#process.decide(callId, { type: 'allow', ...(!isSame && { arguments: verdict.allow }) });
  }
}

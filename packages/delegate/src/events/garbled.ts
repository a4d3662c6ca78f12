import type { BackendEvent, End } from './backend-event.ts';

/** Returns the end of a task whose output has a gap, which a retry may not have. */
export function malformedEnd(provider: string, why: string): End {
  const message = `The output of ${provider} is invalid: ${why}.`;
  return {
    type: 'end',
    ok: false,
    error: { kind: 'network', code: 'garbled', message, provider, retryable: true },
  };
}

/** Returns true for the end of a task whose output has a gap. */
export function isMalformed(event: BackendEvent): event is End {
  return event.type === 'end' && event.error?.code === 'garbled';
}

/** Tracks the end of a turn and the start of the next one. */
export class TurnEnd {
  /** Set by the result; content of the same turn must not follow it. */
  isOver = false;
  #isNext = false;

  /** Returns true once another turn has started after the result; its content is ignored. */
  isNextTurn(starts: boolean): boolean {
    this.#isNext ||= this.isOver && starts;
    return this.#isNext;
  }

  problem(isContent: boolean): string | undefined {
    return this.isOver && isContent ? 'it continued after its result' : undefined;
  }
}

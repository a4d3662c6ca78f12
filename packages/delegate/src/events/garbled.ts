import type { ErrorData } from '@cobbler/agent';
import type { BackendEvent, End } from './backend-event.ts';
import type { Fields } from './fields.ts';

/** Returns the error for output that has a gap, which a retry may not have. */
export function malformedError(provider: string, why: string): ErrorData {
  const message = `The output of ${provider} is invalid: ${why}.`;
  return { kind: 'network', code: 'garbled', message, provider, retryable: true };
}

/** Returns the end of a task whose output has a gap. */
export function malformedEnd(provider: string, why: string): End {
  return { type: 'end', ok: false, error: malformedError(provider, why) };
}

/**
 * Returns the events of a line that is not an object. Output other than messages, such as a warning, is ignored; a
 * message that was cut makes the output invalid.
 */
export function unreadable(provider: string, line: string): readonly BackendEvent[] {
  return /^\s*\{\s*"/.test(line) ? [malformedEnd(provider, 'a message is not valid JSON')] : [];
}

/** Returns the first field that is missing or has another type than it must have. */
export function wrongField(
  fields: Fields,
  types: Readonly<Record<string, 'string' | 'object'>> = {},
): string | undefined {
  const isType = (value: unknown, type: unknown) =>
    typeof value === type && value !== null && !Array.isArray(value);
  return Object.keys(types).find((name) => !isType(fields[name], types[name]));
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

import { AgentError } from '../values/errors.ts';
import { isObject } from '../values/json.ts';
import { NotPlain, plainCopy } from '../values/plain.ts';
import { isThenable } from '../values/thenable.ts';
import type { Gate, GateCall, GateContext, Verdict } from './gate.ts';

/**
 * Reads a verdict from external code. Fails closed: anything that is not clearly an `allow` or an `ask` is a denial.
 * Accepts a {@link Verdict}, its `type` alone as a string, and the verdicts of the Claude Agent SDK:
 * `{ behavior: 'allow', updatedInput? }` and `{ behavior: 'deny', message, interrupt? }`. Each field is read once, and
 * only if it is the object's own. Arguments are copied as plain data; arguments that JSON would lose or change make the
 * verdict a denial.
 *
 * Never throws. A promise is not a verdict: await it, or use {@link askForVerdict}.
 */
export function readVerdict(value: unknown): Verdict {
  try {
    if (value === 'allow' || value === 'ask') return { type: value };
    if (value === 'deny') return deny(undefined);
    if (!isObject(value)) return unclear(value === null ? 'null' : describeWord(value));
    const type = own(value, 'type');
    const behavior = own(value, 'behavior');
    const given = own(value, 'arguments');
    const updated = own(value, 'updatedInput');
    const isOurs = type !== undefined;
    const word = isOurs ? type : behavior;
    // Fields of both formats contradict each other, or their author confused the formats.
    const isMixed = isOurs ? behavior !== undefined || updated !== undefined : given !== undefined;
    if (word === 'deny') return deny(own(value, 'message'), own(value, 'interrupt'));
    if (isMixed) return unclear('an object with two verdict formats');
    if (word === 'ask' && isOurs) return { type: 'ask' };
    if (word !== 'allow') return unclear(`${isOurs ? 'type' : 'behavior'} ${describeWord(word)}`);
    const changed = isOurs ? given : updated;
    return changed === undefined ? { type: 'allow' } : { type: 'allow', arguments: plainArguments(changed) };
  } catch (thrown) {
    return refused('could not be read', thrown);
  }
}

/**
 * Calls external code and reads its verdict like {@link readVerdict}. The call is denied if the code throws or
 * rejects, or if the verdict arrives after the signal was aborted. Never rejects.
 */
export async function askForVerdict(ask: () => unknown, signal?: AbortSignal): Promise<Verdict> {
  try {
    const verdict = readVerdict(await ask());
    return signal?.aborted === true ? deny('The permission gate responded too late.') : verdict;
  } catch (thrown) {
    return failed(thrown);
  }
}

/** Asks a gate like {@link askForVerdict}. Returns no promise if the gate returns none. */
export function askGate(gate: Gate, call: GateCall, context: GateContext): Verdict | Promise<Verdict> {
  try {
    const answer: unknown = gate(call, context);
    return isThenable(answer) ? askForVerdict(() => answer) : readVerdict(answer);
  } catch (thrown) {
    return failed(thrown);
  }
}

function own(value: Record<string, unknown>, name: string): unknown {
  return Object.hasOwn(value, name) ? value[name] : undefined;
}

function deny(message: unknown, interrupt?: unknown): Verdict {
  const reason = typeof message === 'string' && message.trim() !== '' ? message : 'The call was denied.';
  return { type: 'deny', message: reason, ...(interrupt === true && { interrupt }) };
}

function unclear(found: string): Verdict {
  return deny(
    `The call was denied: the permission gate returned ${found}. Return "allow", "ask", "deny" or { type: 'deny', message }.`,
  );
}

function failed(thrown: unknown): Verdict {
  return refused('failed', thrown);
}

function refused(what: string, thrown: unknown): Verdict {
  let reason = 'an unreadable value was thrown';
  try {
    reason = AgentError.from(thrown).message;
  } catch {
    // Reading the thrown value throws.
  }
  return deny(`The permission gate ${what}: ${reason}`);
}

function describeWord(word: unknown): string {
  return typeof word === 'string' ? JSON.stringify(word.slice(0, 40)) : `a value of type ${typeof word}`;
}

function plainArguments(value: unknown): Record<string, unknown> {
  try {
    const args = plainCopy(value, (item) => typeof item === 'string' && item.isWellFormed());
    if (isObject(args)) return args;
  } catch (thrown) {
    if (!(thrown instanceof NotPlain)) throw thrown;
  }
  throw new TypeError('its arguments are not a plain object that JSON can represent.');
}

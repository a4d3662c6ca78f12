import { AgentError } from '../values/errors.ts';
import { listOf, oneOf, read, record, text } from '../values/input.ts';
import type { ToolEffect } from './tool.ts';

/** One tool call, as a gate sees it. Its arguments are already valid. */
export interface GateCall {
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  readonly effect: ToolEffect;
  /** The one argument that matters; empty if the tool names none. */
  readonly subject: string;
  /** The reason why the tool requires a user to decide on this call; absent for an ordinary call. */
  readonly mustAsk?: string;
  /** The first tool whose untrusted output the model had read when it wrote the call; absent if there is none. */
  readonly untrusted?: string;
}

/** The context in which a gate decides on a call. */
export interface GateContext {
  readonly signal: AbortSignal;
  /** Id of the session, for gates that serve several. */
  readonly session: string;
}

/**
 * The decision of a gate. `allow` can change the arguments, which are then validated again. `deny` sends the reason
 * to the model; `interrupt` also asks Claude Code to stop the turn and has no effect elsewhere. `ask` leaves the
 * decision to a user, and nothing starts before it is made.
 */
export type Verdict = Allow | Deny | { readonly type: 'ask' };

interface Allow {
  readonly type: 'allow';
  readonly arguments?: Record<string, unknown>;
}

interface Deny {
  readonly type: 'deny';
  readonly message: string;
  readonly interrupt?: boolean;
}

/**
 * Decides on one tool call before any call of its batch starts. The string `allow`, `deny` or `ask` stands for a
 * verdict with no other fields. A gate that throws or returns anything else denies the call.
 */
export type Gate = (
  call: GateCall,
  context: GateContext,
) => Verdict | Verdict['type'] | Promise<Verdict | Verdict['type']>;

/** A gate that decides at once and returns an object, so that your own gate can use its verdict. */
type PlainGate = (call: GateCall, context?: GateContext) => Verdict;

const allow: Verdict = { type: 'allow' };

/** Allows every call. The default of the library, where the caller provides the tools. */
export const allowAll: PlainGate = () => allow;

/**
 * Returns a gate that allows calls that only read. A read that requires a user's decision, such as reading a key, is not
 * among them. `why` follows the name of the tool in the message for the others.
 */
function readingOnly(why: string): PlainGate {
  const judge = ({ effect, mustAsk, toolName }: GateCall): Verdict =>
    effect === 'read' && mustAsk === undefined ? allow : { type: 'deny', message: `${toolName} ${why}` };
  return (call) => read(call, () => judge(call), 'call');
}

/** Allows only tools that change nothing. */
export const readOnly: PlainGate = readingOnly('is not allowed: this run is read-only.');

/** Like {@link readOnly}, with a message that makes the model plan instead of act. */
export const planMode: PlainGate = readingOnly(
  'is not allowed while planning. Explore, then describe the plan.',
);

/** Permission rules: `tool`, or `tool(pattern)`, where `*` matches any characters in the subject. */
export interface GateRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** The verdict for a call that no rule matches. Default `ask`. */
  readonly otherwise?: 'allow' | 'deny' | 'ask';
}

/**
 * Decides by rules; deny overrides allow. A `*` in the pattern of an allow rule never matches characters that join,
 * substitute or redirect shell commands, nor a word that starts with `-`, so `npm test*` allows neither
 * `npm test; curl …` nor `npm test --prefix …`. No rule allows a call with `mustAsk`; `otherwise: 'allow'` asks the user
 * about it.
 */
export function rules(given: GateRules): PlainGate {
  const { allow: allowing = [], deny = [], otherwise = 'ask' } = read(given, gateRules, 'rules');
  const denied = deny.map((rule) => parseRule(rule, true));
  const allowed = allowing.map((rule) => parseRule(rule, false));
  const judge = (call: GateCall): Verdict => {
    if (denied.some((matches) => matches(call))) {
      return { type: 'deny', message: `A permission rule forbids ${call.toolName}.` };
    }
    if (call.mustAsk === undefined && allowed.some((matches) => matches(call))) return allow;
    if (otherwise === 'allow' && call.mustAsk !== undefined) return { type: 'ask' };
    if (otherwise === 'deny') return { type: 'deny', message: `No permission rule allows ${call.toolName}.` };
    return { type: otherwise };
  };
  return (call) => read(call, () => judge(call), 'call');
}

const gateRules = record<GateRules>({
  allow: listOf(text),
  deny: listOf(text),
  otherwise: oneOf('allow', 'deny', 'ask'),
});

/** Characters that a `*` of an allow rule does not match; a `-` only where it starts a word. */
const barred = /[;&|$`<>()\n\r\\]|(?<=\s['"]*)-/g;

function parseRule(rule: string, wide: boolean): (call: GateCall) => boolean {
  const match = /^([A-Za-z0-9_*-]+)(?:\(([\s\S]*)\))?$/.exec(rule.trim());
  if (match === null) {
    const message = `Permission rule ${JSON.stringify(rule)} must have the form "tool" or "tool(pattern)".`;
    throw new AgentError({ kind: 'invalid', code: 'bad_rule', message });
  }
  const name = glob(match[1] ?? '', true);
  const subject = match[2] === undefined ? undefined : glob(match[2], wide);
  return (call) => name(call.toolName) && (subject === undefined || subject(call.subject));
}

/** Returns a matcher whose time is at most proportional to the lengths of the text and the pattern, whatever they contain. */
function glob(pattern: string, wide: boolean): (text: string) => boolean {
  const [first = '', ...parts] = pattern.split('*');
  return (text) => {
    const stops = new Set(wide ? [] : Array.from(text.matchAll(barred), ({ index }) => index));
    // The places at which the pattern can have matched everything before.
    let ends = new Uint8Array(text.length + 1);
    if (text.startsWith(first)) ends[first.length] = 1;
    for (const part of parts) {
      const next = new Uint8Array(text.length + 1);
      let isOpen = false;
      for (let at = 0; at <= text.length; at += 1) {
        isOpen = ends[at] === 1 || (isOpen && !stops.has(at - 1));
        if (isOpen && text.startsWith(part, at)) next[at + part.length] = 1;
      }
      ends = next;
    }
    return ends[text.length] === 1;
  };
}

import { AgentError } from '../values/errors.ts';
import type { ToolEffect } from './tool.ts';

/** One tool call, as a gate judges it. Arguments are already valid. */
export interface GateCall {
  readonly id: string;
  readonly toolName: string;
  readonly arguments: Record<string, unknown>;
  readonly effect: ToolEffect;
  /** The one argument that matters; empty when the tool names none. */
  readonly subject: string;
  /** Why the tool wants a person to look at this call, in words; absent for an ordinary call. */
  readonly mustAsk?: string;
}

/** What a gate knows besides the call. */
export interface GateContext {
  readonly signal: AbortSignal;
  /** Id of the session, for gates that serve many. */
  readonly session: string;
}

/**
 * `allow` may change the arguments, which are then checked again; `deny` tells the model why, and its `interrupt` asks
 * Claude Code to stop the turn (other doors only deny); `ask` leaves the decision to a person and starts nothing until
 * there is one.
 */
export type Verdict =
  | { readonly type: 'allow'; readonly arguments?: Record<string, unknown> }
  | { readonly type: 'deny'; readonly message: string; readonly interrupt?: boolean }
  | { readonly type: 'ask' };

/**
 * Decides about one tool call. Asked before anything of its batch starts. A gate that throws denies, and so does one
 * that gives anything else than a verdict.
 */
export type Gate = (call: GateCall, context: GateContext) => Verdict | Promise<Verdict>;

const allow: Verdict = { type: 'allow' };

/** Lets every call through: the default of the library, where tools are the caller's own. */
export const allowAll: Gate = () => allow;

/** A read that a person must look at, such as one of a key, is no plain read. */
function onlyReads({ effect, mustAsk }: GateCall): boolean {
  return effect === 'read' && mustAsk === undefined;
}

/** Lets only tools through that change nothing. */
export const readOnly: Gate = (call) =>
  onlyReads(call)
    ? allow
    : { type: 'deny', message: `${call.toolName} is not allowed: this run is read-only.` };

/** Like {@link readOnly}, in words that make the model plan instead of act. */
export const planMode: Gate = (call) =>
  onlyReads(call)
    ? allow
    : {
        type: 'deny',
        message: `${call.toolName} is not allowed while planning. Explore, then describe the plan.`,
      };

/** Permission rules: `tool`, or `tool(pattern)` where `*` stands for any run of characters in the subject. */
export interface GateRules {
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /** What happens to a call that no rule names. Default `ask`. */
  readonly otherwise?: 'allow' | 'deny' | 'ask';
}

/**
 * Decides by rules; deny beats allow. A `*` in a rule never stands for characters that join, substitute or
 * redirect shell commands, so that `npm test*` does not allow `npm test; curl …`. A call with `mustAsk` is allowed
 * only by a rule that names tool and subject without a `*`; `otherwise: 'allow'` asks about it.
 */
export function rules(given: GateRules): Gate {
  const denied = (given.deny ?? []).map((rule) => parseRule(rule, true));
  const allowed = (given.allow ?? []).map((rule) => parseRule(rule, false));
  const exact = allowed.filter((_, index) => isExact(given.allow?.[index] ?? ''));
  return (call) => {
    if (denied.some((matches) => matches(call))) {
      return { type: 'deny', message: `A permission rule forbids ${call.toolName}.` };
    }
    if ((call.mustAsk === undefined ? allowed : exact).some((matches) => matches(call))) return allow;
    const otherwise = given.otherwise ?? 'ask';
    if (otherwise === 'allow' && call.mustAsk !== undefined) return { type: 'ask' };
    if (otherwise === 'deny') return { type: 'deny', message: `No permission rule allows ${call.toolName}.` };
    return { type: otherwise };
  };
}

const joining = ';&|$`<>()\\n\\r\\\\';

function parseRule(rule: string, wide: boolean): (call: GateCall) => boolean {
  const match = /^([A-Za-z0-9_*-]+)(?:\(([\s\S]*)\))?$/.exec(rule.trim());
  if (match === null)
    throw new AgentError({
      kind: 'invalid',
      code: 'bad_rule',
      message: `Permission rule ${JSON.stringify(rule)} is not of the form tool or tool(pattern).`,
    });
  const name = glob(match[1] ?? '', true);
  const subject = match[2] === undefined ? undefined : glob(match[2], wide);
  return (call) => name.test(call.toolName) && (subject === undefined || subject.test(call.subject));
}

/** Whether a rule names one tool and one subject. */
function isExact(rule: string): boolean {
  return rule.includes('(') && !rule.includes('*');
}

function glob(pattern: string, wide: boolean): RegExp {
  const any = wide ? '[\\s\\S]*' : `[^${joining}]*`;
  const source = pattern
    .split('*')
    .map((text) => text.replace(/[.+?^${}()|[\]\\]/g, '\\$&'))
    .join(any);
  return new RegExp(`^${source}$`);
}

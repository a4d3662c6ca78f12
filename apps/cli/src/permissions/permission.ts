import type { GateCall, GateContext, Verdict } from '@cobbler/agent';
import { readOnly } from '@cobbler/agent';
import { planToolName } from '@cobbler/tools/planning';
import type { DigestOf, PermissionRule, RuledCall } from './permission-rule.ts';
import {
  allowingRules,
  allowOptions,
  denies,
  editTools,
  grantOf,
  readRule,
  rulesToOffer,
  unclearFor,
} from './permission-rule.ts';

/** Actions that a run may take without asking. */
export type PermissionMode = 'ask' | 'edits' | 'sandboxed' | 'yes' | 'read-only' | 'plan';

/** Descriptions of the modes for the header of a run. */
export const permissionWords: Readonly<Record<PermissionMode, string>> = {
  ask: 'asks before edits and commands',
  edits: 'asks before commands',
  sandboxed: 'asks before calls that leave the sandbox',
  yes: 'asks only before writes to protected files',
  'read-only': 'read-only',
  plan: 'changes nothing until you approve a plan',
};

/** What happens with a call, and why. */
export interface PermissionDecision {
  readonly type: Verdict['type'];
  readonly why: string;
  /** The rules that decide; empty if the mode does. */
  readonly rules: readonly string[];
}

interface PermissionOptions {
  /** Rules that only a stricter mode overrides. */
  readonly deny?: readonly string[];
  /** Digests of the tools whose rules apply only to one definition. Default: no tool has one. */
  readonly digestOf?: DigestOf;
  /** True for a replay, which runs only recorded calls: rules of older recordings then match commands as text. */
  readonly isReplay?: boolean;
}

/** The sessions that are in plan mode whatever the mode of the others is. */
export interface PlannedSessions {
  has(sessionId: string): boolean;
  end(sessionId: string): void;
}

/** A gate whose rules can be extended during the run. It records the calls for which no user could be asked. */
export class Permission {
  readonly gate: (call: GateCall, context?: Partial<GateContext>) => Promise<Verdict>;
  readonly #attended: boolean;
  readonly #allow: PermissionRule[];
  readonly #deny: readonly PermissionRule[];
  readonly #digestOf: DigestOf;
  readonly #isReplay: boolean;
  readonly #undecided: GateCall[] = [];
  #mode: PermissionMode;
  /** The mode after a plan was approved. */
  #afterPlan: PermissionMode = 'ask';
  /** Default: none. */
  planned: PlannedSessions = { has: () => false, end: () => undefined };
  /** Called with each rule that is added. */
  onAllow: (rule: string) => void = () => undefined;

  /**
   * @param attended true if a user can be asked; otherwise such calls are denied.
   * @throws AgentError `invalid` for a rule that does not have the form tool(pattern).
   */
  constructor(
    mode: PermissionMode,
    allow: readonly string[],
    attended: boolean,
    { deny = [], digestOf = () => undefined, isReplay = false }: PermissionOptions = {},
  ) {
    this.#mode = mode;
    this.#attended = attended;
    this.#allow = allow.map((text) => readRule(text, 'allow'));
    this.#deny = deny.map((text) => readRule(text, 'deny'));
    this.#digestOf = digestOf;
    this.#isReplay = isReplay;
    this.gate = async (call, context) => {
      const { type, why } = this.decide(call, context?.session);
      if (type !== 'deny' && (type !== 'ask' || this.#attended)) return { type };
      if (type === 'ask') this.#undecided.push(call);
      return { type: 'deny', message: type === 'ask' ? `${cannotAsk} ${call.mustAsk ?? ''}`.trim() : why };
    };
  }

  get mode(): PermissionMode {
    return this.#mode;
  }

  /** A change takes effect with the next call. */
  set mode(mode: PermissionMode) {
    if (mode === 'plan' && this.#mode !== 'plan') this.#afterPlan = this.#mode;
    this.#mode = mode;
  }

  /** Ends plan mode: the mode before it applies again. */
  endPlan(sessionId = ''): void {
    this.planned.end(sessionId);
    if (this.#mode === 'plan') this.#mode = this.#afterPlan;
  }

  /** Calls that were denied because no user could be asked. */
  get undecided(): readonly GateCall[] {
    return this.#undecided;
  }

  /** The options that would have allowed the calls that were denied because no user could be asked. */
  get missingOptions(): readonly string[] {
    return allowOptions(this.#undecided, this.#digestOf);
  }

  /** Adds an allow rule for the rest of this run. */
  allow(rule: string): void {
    this.#allow.push(readRule(rule, 'allow'));
    this.onAllow(rule);
  }

  get rules(): { readonly allow: readonly string[]; readonly deny: readonly string[] } {
    const texts = (list: readonly PermissionRule[]) => list.map(({ text }) => text);
    return { allow: texts(this.#allow), deny: texts(this.#deny) };
  }

  /** Returns the rules to offer as "always" for a call, the narrowest first. */
  offers(call: RuledCall): readonly string[] {
    return rulesToOffer(call, this.#digestOf);
  }

  /** Returns what happens with a call: `ask` also if no user can be asked. */
  decide(call: Omit<GateCall, 'id'>, sessionId = ''): PermissionDecision {
    const mode = this.planned.has(sessionId) ? 'plan' : this.#mode;
    const denied = this.#deny.find((rule) => denies(rule, call));
    if (denied !== undefined)
      return decision('deny', `A permission rule forbids ${call.toolName}.`, [denied.text]);
    if (mode === 'read-only' || (mode === 'plan' && call.toolName !== planToolName))
      return readOnlyDecision(call, mode);
    const unclear = unclearFor(this.#deny, call);
    if (unclear !== undefined) return decision(mode === 'yes' || !this.#attended ? 'deny' : 'ask', unclear);
    // After untrusted output, what was allowed in advance is asked again.
    const grant = call.untrusted === undefined ? grantOf(this.#allow, call) : undefined;
    if (grant !== undefined) return decision('allow', 'Rules allow it.', [grant.text]);
    if (call.mustAsk !== undefined) return decision('ask', call.mustAsk);
    if (call.effect === 'read') return decision('allow', 'It changes nothing.');
    if (call.toolName === agentToolName) return agentDecision;
    if (this.#allowsAll(call.toolName)) return decision('allow', `The mode is ${this.mode}.`);
    const asText = this.#isReplay ? this.#allow.filter((rule) => rule.matches(call)) : [];
    const allowing = asText.length > 0 ? asText : allowingRules(this.#allow, call, this.#digestOf);
    return allowing === undefined
      ? decision('ask', 'No rule allows it.')
      : decision(
          'allow',
          'Rules allow it.',
          allowing.map(({ text }) => text),
        );
  }

  /** Returns whether the mode allows all calls of a tool for which nothing must be asked. */
  #allowsAll(toolName: string): boolean {
    if (this.mode === 'yes' || (this.mode === 'sandboxed' && toolName === 'run_command')) return true;
    return (this.mode === 'edits' || this.mode === 'sandboxed') && editTools.has(toolName);
  }
}

function readOnlyDecision(call: Omit<GateCall, 'id'>, mode: PermissionMode): PermissionDecision {
  const plans = `Nothing may change until the user approves a plan. Present one with ${planToolName}. Without that tool, end with the plan as your answer.`;
  if (call.mustAsk !== undefined)
    return decision('deny', mode === 'plan' ? plans : `This run is read-only. ${call.mustAsk}`);
  if (call.toolName === agentToolName) return agentDecision;
  const verdict = readOnly({ ...call, id: '' });
  if (verdict.type !== 'deny') return decision(verdict.type, 'It changes nothing.');
  return decision('deny', mode === 'plan' ? plans : verdict.message);
}

/** The name of the tool that gives tasks to other agents. */
export const agentToolName = 'agent';

const agentDecision = decision('allow', 'Each call of the agent is decided.');

function decision(type: Verdict['type'], why: string, rules: readonly string[] = []): PermissionDecision {
  return { type, why, rules };
}

const cannotAsk =
  'This call needs approval, but there is no user to ask. Do what is possible without this call, and say what is left to do.';

import type { GateCall, Verdict } from '@cobbler/agent';
import { readOnly, rules } from '@cobbler/agent';

/** Actions that a run may take without asking. */
export type PermissionMode = 'ask' | 'edits' | 'yes' | 'read-only';

/** Descriptions of the modes for the header of a run. */
export const permissionWords: Readonly<Record<PermissionMode, string>> = {
  ask: 'asks before edits and commands',
  edits: 'asks before commands',
  yes: 'asks only before writes to protected files',
  'read-only': 'read-only',
};

const editTools: ReadonlySet<string> = new Set([
  ...['write_file', 'edit_file'],
  // Tools of backends.
  ...['Edit', 'MultiEdit', 'NotebookEdit', 'Write', 'file_change'],
]);

/** A gate whose rules can be extended during the run. It records the calls for which no user could be asked. */
export class Permission {
  readonly gate: (call: GateCall, context?: unknown) => Promise<Verdict>;
  #mode: PermissionMode;
  readonly #attended: boolean;
  readonly #allow: string[];
  readonly #deny: readonly string[];
  #allowed: (call: GateCall) => Verdict;
  readonly #undecided: GateCall[] = [];

  /**
   * @param attended true if a user can be asked; otherwise such calls are denied.
   * @param deny rules that only a stricter mode overrides.
   * @throws AgentError `invalid` for a rule that does not have the form tool(pattern).
   */
  constructor(
    mode: PermissionMode,
    allow: readonly string[],
    attended: boolean,
    deny: readonly string[] = [],
  ) {
    this.#mode = mode;
    this.#attended = attended;
    this.#allow = [...allow];
    this.#deny = deny;
    this.#allowed = rules({ allow: this.#allow, deny });
    this.gate = async (call) => {
      const verdict = this.#allowed(call);
      if (this.#mode === 'read-only' && verdict.type === 'deny') return verdict;
      if (this.#mode === 'read-only' && call.mustAsk === undefined) return readOnly(call);
      if (this.#mode === 'read-only')
        return { type: 'deny', message: `This run is read-only. ${call.mustAsk}` };
      if (verdict.type !== 'deny' && this.#isAllowed(call)) return { type: 'allow' };
      if (verdict.type !== 'ask' || this.#attended) return verdict;
      this.#undecided.push(call);
      const why = call.mustAsk === undefined ? '' : ` ${call.mustAsk}`;
      return { type: 'deny', message: `${cannotAsk}${why}` };
    };
  }

  /** Calls that were denied because no user could be asked. */
  get undecided(): readonly GateCall[] {
    return this.#undecided;
  }

  /** Adds an allow rule for the rest of this run. */
  allow(rule: string): void {
    this.#allow.push(rule);
    this.#allowed = rules({ allow: this.#allow, deny: this.#deny });
  }

  get mode(): PermissionMode {
    return this.#mode;
  }

  /** Takes effect with the next call. */
  set mode(mode: PermissionMode) {
    this.#mode = mode;
  }

  /** The current allow and deny rules. */
  get rules(): { readonly allow: readonly string[]; readonly deny: readonly string[] } {
    return { allow: this.#allow, deny: this.#deny };
  }

  #isAllowed(call: GateCall): boolean {
    if (call.mustAsk !== undefined) return false;
    if (call.effect === 'read' || this.#mode === 'yes') return true;
    return this.#mode === 'edits' && editTools.has(call.toolName);
  }
}

const cannotAsk =
  'This call needs approval, but no user can be asked. Do what is possible without it, and say what is left to do.';

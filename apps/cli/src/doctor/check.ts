/** The outcome of one check. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** The finding. */
  readonly found: string;
  /** The command, or the words, that repair it. */
  readonly repair?: string;
}

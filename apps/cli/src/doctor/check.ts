/** The outcome of one check. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  /** The finding. */
  readonly found: string;
  /** The fix, as a command or in words. */
  readonly repair?: string;
}

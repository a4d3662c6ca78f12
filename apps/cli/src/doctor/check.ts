/** The outcome of one check. */
export interface Check {
  readonly name: string;
  readonly ok: boolean;
  readonly found: string;
  /** The fix, as a command or in words. */
  readonly repair?: string;
}

/** Returns a check without a problem. */
export function passed(name: string, found: string): Check {
  return { name, ok: true, found };
}

/** Returns a check that found a problem. */
export function failed(name: string, found: string, repair: string): Check {
  return { name, ok: false, found, repair };
}

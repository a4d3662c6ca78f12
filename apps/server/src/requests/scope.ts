/** The scopes of a token: read, run prompts, answer approval requests, manage tokens and sessions. */
export type Scope = 'read' | 'prompt' | 'approve' | 'admin';

/** Every scope, from the least to the most powerful. */
export const scopes: readonly Scope[] = ['read', 'prompt', 'approve', 'admin'];

/** True if one of these scopes allows the given one; `admin` allows everything. */
export function allows(granted: readonly Scope[], wanted: Scope): boolean {
  return granted.includes('admin') || granted.includes(wanted);
}

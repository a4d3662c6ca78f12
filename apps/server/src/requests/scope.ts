/** What a token allows: to look, to make the model work, to answer approvals, to manage tokens and sessions. */
export type Scope = 'read' | 'prompt' | 'approve' | 'admin';

/** Every scope there is, from the least to the most powerful. */
export const scopes: readonly Scope[] = ['read', 'prompt', 'approve', 'admin'];

/** Whether one of these scopes allows what another one names; `admin` allows everything. */
export function allows(granted: readonly Scope[], wanted: Scope): boolean {
  return granted.includes('admin') || granted.includes(wanted);
}

import { expect } from 'vitest';
import type { Scope } from '../../src/index.ts';
import type { Answered, Rig } from './rig.ts';

/** A server as one user sees it. */
export interface Guest {
  readonly headers: Record<string, string>;
  ask(method: string, path: string, body?: unknown, headers?: Record<string, string>): Promise<Answered>;
}

export function guest(
  { tokens, ask }: Rig,
  name: string,
  scopes: readonly Scope[] = ['read', 'prompt', 'approve'],
): Guest {
  const headers = { authorization: `Bearer ${tokens.add({ name, scopes }).token}` };
  return {
    headers,
    ask: (method, path, body, more = {}) => ask(method, path, body, { ...headers, ...more }),
  };
}

/** Creates a session of a user and sends a prompt to it. */
export async function startSession(one: Rig, user: Guest, id: string, content = 'say Hi.'): Promise<void> {
  expect((await user.ask('POST', '/v1/sessions', { id })).status).toBe(201);
  expect((await user.ask('POST', `/v1/sessions/${id}/prompt`, { content })).status).toBe(202);
  await one.idle(id);
}

/** Returns a field of the items of a list, which is by default their id. */
export const idsIn = ({ json }: Answered, name = 'id'): unknown[] =>
  (json['items'] as Record<string, unknown>[]).map((item) => item[name]);

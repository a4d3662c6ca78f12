import type { Mutant } from './mutant.ts';
import { planted } from './mutant.ts';

/** Planted bugs that give access to the sessions of other users. */
export const access: readonly Mutant[] = [
  ...planted('auth/access', 'auth/access', [
    {
      find: 'return seesAll(token) || userOf(token) === user;',
      replace: 'return true;',
      why: 'a token can use the sessions of other users',
    },
  ]),
  ...planted('auth/access', 'auth/owner', [
    {
      find: 'return seesAll(token) || userOf(token) === user;',
      replace: 'return seesAll(token) || user === undefined || userOf(token) === user;',
      why: 'a session without a user is open to all',
    },
  ]),
  ...planted('sessions/session-service', 'auth/access', [
    {
      find: 'if (mayAccess(token, info) || mayAccess(token, await this.#owned(info))) sessions.push(info);',
      replace: 'sessions.push(info);',
      why: 'the list contains the sessions of other users',
    },
    {
      find: 'if (!mayAccess(token, (await this.#find(id)) ?? {})) continue;',
      replace: '',
      why: 'the list of approvals contains those of other users',
    },
    {
      find: '(firstAt.get(sessionId) ?? Infinity)',
      replace: '(firstAt.has(sessionId) ? 0 : Infinity)',
      why: 'who creates a deleted session again sees the approvals of its earlier user',
    },
  ]),
  ...planted('sessions/session-service', 'auth/owner', [
    {
      find: "if (allows(token?.scopes ?? [], 'prompt')) await this.create(id, token);",
      replace: 'await this.create(id, token);',
      why: 'a token that only reads creates a session',
    },
    {
      find: 'this.#read.set(key, first?.user);',
      replace: 'this.#read.set(key, first && undefined);',
      why: 'a session of an earlier version is unknown to its user',
    },
    {
      find: 'if (events === 0) return this.#created.get(id) ?? info;',
      replace: 'if (events === 0 || this.#created.has(id)) return this.#created.get(id) ?? info;',
      why: 'who created a session under the same id can use the one that another process has started',
    },
  ]),
  ...planted('sessions/live-session', 'auth/owner', [
    {
      find: '    this.belongTo(first?.user);\n',
      replace: '',
      why: 'a stream of a deleted session receives the one that another user creates under its id',
    },
    {
      find: 'user: this.#userOf(token) }));',
      replace: 'user: undefined }));',
      why: 'a fork belongs to the user of its source',
    },
  ]),
  ...planted('routes/cost-routes', 'auth/access', [
    {
      find: 'timeZone, user }),',
      replace: 'timeZone }),',
      why: 'a token reads the costs of other users',
    },
  ]),
  ...planted('front-ends/responses-routes', 'auth/access', [
    {
      find: 'JSON.stringify([user, key])',
      replace: 'JSON.stringify([key])',
      why: 'users who choose the same key share a session',
    },
  ]),
];

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
      find: 'return mayAccess(token, info) || mayAccess(token, await this.#owned(info));',
      replace: 'return true;',
      why: 'the list contains the sessions of other users',
    },
    {
      find: 'if (!mayAccess(token, (await this.#find(id, token)) ?? {})) continue;',
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
      find: 'if (events === 0) return {',
      replace: 'if (events === 0 || this.#created.has(id)) return {',
      why: 'who created a session under the same id can use the one that another process has started',
    },
  ]),
  ...planted('sessions/live-session', 'auth/owner', [
    {
      find: '    this.#replaceOwner(first?.user);\n',
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
  ...planted('auth/access', 'auth/sharing', [
    {
      find: 'return token.scopes.filter((scope) => shared.includes(scope));',
      replace: 'return shared.length > 0 ? token.scopes : [];',
      why: 'a share gives all scopes of the token',
    },
    {
      find: 'return token.scopes.filter((scope) => shared.includes(scope));',
      replace: 'return shared;',
      why: 'a share gives scopes that the token lacks',
    },
    {
      find: "['approve', ['read', 'approve']],",
      replace: "['approve', ['read', 'prompt', 'approve']],",
      why: 'a user with whom a session is shared for approval can send prompts',
    },
    {
      find: 'shares.find(({ user }) => user === userOf(token))?.may;',
      replace: 'shares[0]?.may;',
      why: 'a session that is shared with one user is open to all',
    },
  ]),
  ...planted('sessions/session-service', 'auth/sharing', [
    {
      find: 'if (token !== undefined && owns(token, session)) return session;',
      replace: 'if (token !== undefined) return session;',
      why: 'a user with whom a session is shared can share and delete it',
    },
    {
      find: 'if (live?.run !== undefined && token !== undefined && owns(token, live)) return live;',
      replace: 'if (live?.run !== undefined) return live;',
      why: 'while a session runs, a share that another process ends remains',
    },
  ]),
  ...planted('sessions/live-session', 'auth/sharing', [
    {
      find: 'this.belongTo({ user: this.user, shares: (await this.#store.info(this.id))?.shares });',
      replace: 'await this.#store.info(this.id);',
      why: 'a stream outlives a share that another process ends',
    },
  ]),
  ...planted('sessions/live-session', 'auth/token-limits', [
    {
      find: 'this.#runsOf(user) >= max',
      replace: 'this.#runsOf(user) > max',
      why: 'one session more than the token allows can run',
    },
  ]),
  ...planted('routes/share-session', 'auth/sharing', [
    {
      find: '  streams.endInvalid();\n',
      replace: '',
      why: 'a front end that follows a run of another user reads on after its share has ended',
    },
    {
      find: '  if (missing !== undefined)\n',
      replace: '  if (missing === undefined)\n',
      why: 'a token shares scopes that it lacks',
    },
  ]),
  ...planted('routes/session-routes', 'auth/sharing', [
    {
      find: 'return { ...json, shares: undefined, may: shareOf(token, info) };',
      replace: 'return json;',
      why: 'users with whom a session is shared learn of each other',
    },
  ]),
  ...planted('auth/request-rate', 'auth/token-limits', [
    {
      find: 'const isCounted = waitMs < 1;',
      replace: 'const isCounted = waitMs < 60_000;',
      why: 'a token sends twice as many requests as its rate allows',
    },
    {
      find: 'now), now + minuteMs);',
      replace: 'now), Infinity);',
      why: 'after the clock was set back, a token waits for hours',
    },
  ]),
];

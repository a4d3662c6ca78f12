import type { SessionInfo } from '@cobbler/agent';
import { AgentError, openSession, systemRuntime } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import { owns, seesAll, shareOf } from '../auth/access.ts';
import type { TokenInfo } from '../auth/token-store.ts';
import type { ResponseText, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem, problemOf } from '../requests/problem.ts';
import { logPages } from '../sessions/log-pages.ts';
import { searchMessages } from '../sessions/search-messages.ts';
import { listSessions, sessionJson } from '../sessions/session-index.ts';
import {
  folderList,
  foundMessages,
  id,
  session,
  sessionChange,
  sessionList,
  setup,
  usageTotals,
} from './schemas.ts';
import type { Services } from './services.ts';
import { shareSession } from './share-session.ts';

const unknown: ResponseText = { text: 'There is no such session.' };

const busy: ResponseText = { text: 'A run is active. `runId` is its id.' };

/** Returns the routes that create, list, read, copy and delete sessions. */
export function sessionRoutes(services: Services): Route[] {
  const { sessionService, approvals, store, watch, places } = services;
  return [
    route({
      method: 'GET',
      path: '/v1/sessions',
      name: 'listSessions',
      summary:
        'Lists the sessions of the token and those shared with its user, newest first. With the scope `admin`: all sessions.',
      scope: 'read',
      query: z.strictObject({
        limit: z.coerce.number().int().min(1).max(200).default(50),
        cursor: z.string().max(100).optional(),
        folder: z.string().max(4096).optional(),
        wait: z.string().max(100).optional(),
      }),
      answers: {
        200: {
          text: 'A page of sessions, which can be empty. `next` is the cursor for the next page. If `wait` is the `version` of an earlier response, the server responds when a process has changed the store, or after 25 seconds.',
          schema: sessionList,
        },
      },
      handle: async ({ query: { wait, limit, cursor, folder }, token, response }) => {
        if (wait !== undefined) await watch.changed(wait, (wake) => response.once('close', wake));
        const { version } = watch;
        await approvals.refresh();
        const isThere = ({ id }: SessionInfo) => folder === undefined || places?.folderOf(id) === folder;
        const { sessions, next } = await listSessions(
          store,
          { limit, ...defined({ after: cursor }) },
          async (info) => isThere(info) && (await sessionService.mayList(token, info)),
        );
        const items = sessions.map((info) => sessionJsonOf(services, info.id, info, token));
        return { status: 200, json: { items, next, version } };
      },
    }),
    setupRoute(services),
    route({
      method: 'POST',
      path: '/v1/sessions',
      name: 'createSession',
      summary: 'Creates a session. The server sets the model, tools and permissions.',
      scope: 'prompt',
      body: z
        .strictObject({ id: id.optional(), folder: z.string().max(4096).optional() })
        .meta({ id: 'NewSession' }),
      bodyOptional: true,
      answers: {
        201: { text: 'Made.', schema: session },
        200: { text: 'A session with this id already exists.', schema: session },
        403: { text: 'The token may not start a session in this directory (`folder`).' },
        409: { text: 'The id belongs to a session that the token may not use (`id_taken`).' },
      },
      handle: async ({ body: { id = systemRuntime.id(), folder } = {}, token }) => {
        if (folder !== undefined) {
          if (!(await foldersFor(services, token)).includes(folder) || (await store.info(id)) !== undefined)
            throw new Problem(403, 'folder', 'This session cannot start in this directory.');
          places?.choose(id, folder);
        }
        const created = await sessionService.create(id, token);
        const json = await readSessionJson(services, created.id, token);
        return {
          status: created.isNew ? 201 : 200,
          json,
          headers: { location: `/v1/sessions/${created.id}` },
        };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}',
      name: 'readSession',
      summary: 'Returns one session.',
      scope: 'read',
      answers: { 200: { text: 'The session.', schema: session }, 404: unknown },
      handle: async ({ params: { sessionId = '' }, token }) => {
        await sessionService.session(sessionId, token, 'read');
        return { status: 200, json: await readSessionJson(services, sessionId, token) };
      },
    }),
    ...changingRoutes(services),
  ];
}

/** Returns the route that says what new sessions work with. */
function setupRoute({ models, place, places }: Services): Route {
  return route({
    method: 'GET',
    path: '/v1/setup',
    name: 'readSetup',
    summary: 'Returns where the agent works, what it may do, and the models that users can choose.',
    scope: 'read',
    answers: { 200: { text: 'The setup for new sessions.', schema: setup } },
    handle: () => ({
      status: 200,
      json: {
        ...place?.(),
        models: models?.list ?? [],
        ...defined({ next: models?.of('') }),
        local: places !== undefined,
      },
    }),
  });
}

/** Returns the routes that change a session, except for prompts. */
function changingRoutes(services: Services): Route[] {
  const { sessionService, store, approvals, models } = services;
  return [
    route({
      method: 'PATCH',
      path: '/v1/sessions/{sessionId}',
      name: 'renameSession',
      summary:
        'Renames a session, shares it with another user, chooses the model of its next run, or turns plan mode on or off. An empty title resets it to the start of the first prompt.',
      scope: 'prompt',
      body: sessionChange,
      answers: {
        200: { text: 'The session.', schema: session },
        400: { text: 'The server does not offer this model or effort, or plan mode (`not_offered`).' },
        403: {
          text: "The token is not the owner's, or does not have the scopes that it would share.",
        },
        404: unknown,
        409: {
          text: 'The session has no events yet (`empty_session`), or too many shares (`too_many_shares`).',
        },
      },
      handle: async ({ params: { sessionId = '' }, body, token }) => {
        const { title, share, plan, ...change } = body;
        if (share !== undefined) await shareSession(services, sessionId, token, share);
        if (title !== undefined) {
          await sessionService.session(sessionId, token, 'prompt');
          await store.rename(sessionId, title);
        }
        if (change.model !== undefined || change.effort !== undefined)
          await sessionService.chooseModel(sessionId, token, change);
        if (plan !== undefined) await setPlan(services, sessionId, token, plan);
        return { status: 200, json: await readSessionJson(services, sessionId, token) };
      },
    }),
    route({
      method: 'DELETE',
      path: '/v1/sessions/{sessionId}',
      name: 'deleteSession',
      summary: 'Deletes a session and all its events. Only its owner can do this.',
      scope: 'prompt',
      answers: {
        ...{ 204: { text: 'Deleted.' }, 404: unknown, 409: busy },
        403: { text: 'The session belongs to another user (`owner`).' },
      },
      handle: async ({ params: { sessionId = '' }, token }) => {
        await sessionService.delete(sessionId, token);
        approvals.forget(sessionId);
        return { status: 204 };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/fork',
      name: 'forkSession',
      summary: 'Creates a session with a copy of the events up to and including the given one.',
      scope: 'prompt',
      body: z.strictObject({ upToSeq: z.int().positive().optional() }).meta({ id: 'Fork' }),
      bodyOptional: true,
      answers: { 201: { text: 'The new session.', schema: session }, 404: unknown },
      handle: async ({ params: { sessionId = '' }, body, token }) => {
        sessionService.checkOpen();
        const fork = await (await sessionService.session(sessionId, token, 'prompt')).fork(
          body?.upToSeq,
          token,
        );
        models?.copy(sessionId, fork);
        const json = await readSessionJson(services, fork, token);
        return { status: 201, json, headers: { location: `/v1/sessions/${fork}` } };
      },
    }),
  ];
}

/** Turns plan mode of a session on or off. @throws Problem 400 if the server has none, 503 if it cannot be stored. */
async function setPlan(
  { sessionService, places }: Services,
  id: string,
  token: TokenInfo | undefined,
  isOn: boolean,
): Promise<void> {
  await sessionService.ownSession(id, token);
  if (places === undefined) throw new Problem(400, 'not_offered', 'This server has no plan mode.');
  try {
    places.plan(id, isOn);
  } catch (error) {
    throw problemOf(AgentError.from(error));
  }
}

/** Returns the routes that read a session. */
export function contentRoutes(services: Services): Route[] {
  const { sessionService, store } = services;
  return [
    route({
      method: 'GET',
      path: '/v1/search',
      name: 'searchMessages',
      summary: 'Finds messages with all words, the latest first, in the sessions that the token may read.',
      scope: 'read',
      query: z.strictObject({
        words: z.string().min(1).max(200),
        limit: z.coerce.number().int().min(1).max(100).default(20),
        cursor: z.string().max(100).optional(),
      }),
      answers: {
        200: {
          text: 'A page of messages. If `isComplete` is false, older messages are not indexed yet. Repeat the request later.',
          schema: foundMessages,
        },
        501: { text: 'The store of this server has no full-text search (`no_search`).' },
      },
      handle: async ({ query: { words, limit, cursor }, token }) => {
        const wanted = { words, limit, ...defined({ after: cursor }) };
        const found = await searchMessages(store, wanted, (info) => sessionService.mayList(token, info));
        if (found !== undefined) return { status: 200, json: found };
        throw new Problem(501, 'no_search', 'The store of this server has no full-text search.');
      },
    }),
    route({
      method: 'GET',
      path: '/v1/folders',
      name: 'listFolders',
      summary: 'Lists the directories in which the token can start a session; the default one is the first.',
      scope: 'read',
      answers: {
        200: { text: 'The paths. Empty unless the token has the `admin` scope.', schema: folderList },
      },
      handle: async ({ token }) => ({ status: 200, json: { items: await foldersFor(services, token) } }),
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/messages',
      name: 'readMessages',
      summary: 'Returns the conversation as it would be sent to a model.',
      scope: 'read',
      answers: { 200: { text: 'The messages, and the last event that they reflect.' }, 404: unknown },
      handle: async ({ params: { sessionId = '' }, token }) => {
        await sessionService.session(sessionId, token, 'read');
        const { seq, messages } = await openSession(store, sessionId);
        return { status: 200, json: { seq, messages } };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/sessions/{sessionId}/usage',
      name: 'readUsage',
      summary: 'Returns the usage of the session.',
      scope: 'read',
      answers: { 200: { text: 'Tokens, calls and cost.', schema: usageTotals }, 404: unknown },
      handle: async ({ params: { sessionId = '' }, token }) => {
        const { usage } = await sessionService.session(sessionId, token, 'read');
        const read = (after: number, limit: number) => store.read(sessionId, after, limit);
        for await (const page of logPages(read, usage.seq)) usage.add(page);
        return { status: 200, json: usage.sum };
      },
    }),
  ];
}

/** Returns the directories in which a token may start a session. Others get the default one without knowing its path. */
async function foldersFor({ places }: Services, token: TokenInfo | undefined): Promise<readonly string[]> {
  return token !== undefined && seesAll(token) ? ((await places?.folders()) ?? []) : [];
}

/** Returns a session as the API represents it. */
async function readSessionJson(
  services: Services,
  id: string,
  token: TokenInfo | undefined,
): Promise<Record<string, unknown>> {
  const json = sessionJsonOf(services, id, await services.store.info(id), token);
  const plan = services.places?.plans(id) === true || undefined;
  return { ...json, ...defined({ next: services.models?.of(id), plan }) };
}

function sessionJsonOf(
  { sessionService, approvals, places }: Services,
  id: string,
  info: SessionInfo | undefined,
  token: TokenInfo | undefined,
): Record<string, unknown> {
  const runId = sessionService.runIn(id);
  const json: Record<string, unknown> = {
    ...sessionJson(id, info),
    ...(runId !== undefined && { status: 'running', runId }),
  };
  // A run that waits for a user in memory is still running.
  if (json['status'] === 'running' && approvals.list(id).length > 0) json['status'] = 'waiting';
  const owned = token === undefined || owns(token, info ?? {});
  if (owned) Object.assign(json, defined({ folder: places?.folderOf(id) }));
  if (info?.shares === undefined || owned) return json;
  // Only its owner learns with whom else it is shared.
  return { ...json, shares: undefined, may: shareOf(token, info) };
}

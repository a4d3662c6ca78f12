import type { SessionInfo } from '@cobbler/agent';
import { openSession } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { z } from 'zod';
import { owns, shareOf } from '../auth/access.ts';
import type { TokenInfo } from '../auth/token-store.ts';
import type { ResponseText, Route } from '../http/route.ts';
import { route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';
import { logPages } from '../sessions/log-pages.ts';
import { sessionJson } from '../sessions/session-index.ts';
import type { SessionService } from '../sessions/session-service.ts';
import {
  accepted,
  content,
  id,
  promptBody,
  resumeBody,
  runKey,
  session,
  sessionChange,
  sessionList,
  setup,
  usageTotals,
} from './schemas.ts';
import type { Services } from './services.ts';
import { shareSession } from './share-session.ts';

const unknown: ResponseText = { text: 'There is no such session.' };

const busy: ResponseText = { text: 'A run is active; `runId` names it.' };

/** Returns the routes that create, list, read, copy and delete sessions. */
export function sessionRoutes(services: Services): Route[] {
  const { sessionService, models, place } = services;
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
      }),
      answers: {
        200: {
          text: 'A page of sessions, which can be empty; `next` is the cursor for the next page.',
          schema: sessionList,
        },
      },
      handle: async ({ query: { limit, cursor }, token }) => {
        const { sessions, next } = await sessionService.list(token, limit, cursor);
        const items = sessions.map((info) => sessionJsonOf(sessionService, info.id, info, token));
        return { status: 200, json: { items, next } };
      },
    }),
    route({
      method: 'GET',
      path: '/v1/setup',
      name: 'readSetup',
      summary: 'Returns where the agent works, what it may do, and the models that users can choose.',
      scope: 'read',
      answers: { 200: { text: 'The setup of new sessions.', schema: setup } },
      handle: () => ({
        status: 200,
        json: { ...place?.(), models: models?.list ?? [], ...defined({ next: models?.of('') }) },
      }),
    }),
    route({
      method: 'POST',
      path: '/v1/sessions',
      name: 'createSession',
      summary: 'Creates a session. The server sets the model, tools and permissions.',
      scope: 'prompt',
      body: z.strictObject({ id: id.optional() }).meta({ id: 'NewSession' }),
      bodyOptional: true,
      answers: {
        201: { text: 'Made.', schema: session },
        200: { text: 'A session with this id already exists.', schema: session },
        409: { text: 'The id belongs to a session that the token may not use (`id_taken`).' },
      },
      handle: async ({ body, token }) => {
        const created = await sessionService.create(body?.id, token);
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

/** Returns the routes that change a session, except for prompts. */
function changingRoutes(services: Services): Route[] {
  const { sessionService, store, approvals, models } = services;
  return [
    route({
      method: 'PATCH',
      path: '/v1/sessions/{sessionId}',
      name: 'renameSession',
      summary:
        'Renames a session, shares it with another user, or chooses the model of its next run. An empty title resets it to the start of the first prompt.',
      scope: 'prompt',
      body: sessionChange,
      answers: {
        200: { text: 'The session.', schema: session },
        400: { text: 'The server does not offer this model or effort (`not_offered`).' },
        403: {
          text: "To share a session, the token must be its owner's and have the scopes that it shares.",
        },
        404: unknown,
        409: {
          text: 'The session has no events yet (`empty_session`), or too many shares (`too_many_shares`).',
        },
      },
      handle: async ({ params: { sessionId = '' }, body, token }) => {
        const { title, share, ...change } = body;
        if (share !== undefined) await shareSession(services, sessionId, token, share);
        if (title !== undefined) {
          await sessionService.session(sessionId, token, 'prompt');
          await store.rename(sessionId, title);
        }
        if (change.model !== undefined || change.effort !== undefined)
          await sessionService.chooseModel(sessionId, token, change);
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

/** Returns the routes that read a session. */
export function contentRoutes({ sessionService, store }: Services): Route[] {
  return [
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

/** Returns a session as the API represents it. */
async function readSessionJson(
  { sessionService, store, models }: Services,
  id: string,
  token: TokenInfo | undefined,
): Promise<Record<string, unknown>> {
  const json = sessionJsonOf(sessionService, id, await store.info(id), token);
  return { ...json, ...defined({ next: models?.of(id) }) };
}

function sessionJsonOf(
  sessionService: SessionService,
  id: string,
  info: SessionInfo | undefined,
  token: TokenInfo | undefined,
): Record<string, unknown> {
  const runId = sessionService.runIn(id);
  const json = { ...sessionJson(id, info), ...(runId !== undefined && { status: 'running', runId }) };
  if (info?.shares === undefined || token === undefined || owns(token, info)) return json;
  // Only its owner learns with whom else it is shared.
  return { ...json, shares: undefined, may: shareOf(token, info) };
}

const promptRefusals = {
  409: { text: 'A run is active (`busy`), or the key was used for another prompt (`other_content`).' },
  429: {
    text: "The token's budget is used up (`budget`), its user runs too many sessions (`running_sessions`), or it has sent too many requests (`rate`); `retry-after` is the time to wait.",
  },
};

const steerAnswers = {
  202: { text: 'Accepted.' },
  404: unknown,
  409: { text: 'No run is active.' },
  429: { text: 'Too many messages are waiting for the next turn.' },
};

/** Returns the routes of runs: prompt, cancel, continue. */
export function runRoutes({ sessionService, approvals }: Services): Route[] {
  const runHeaders = (sessionId: string, seq: number) => ({
    location: `/v1/sessions/${sessionId}/events?after=${seq - 1}`,
  });
  return [
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/prompt',
      name: 'prompt',
      summary: 'Sends a prompt to the model and starts a run.',
      scope: 'prompt',
      body: promptBody,
      headers: {
        'Idempotency-Key': 'Becomes the run id. A request with the same key does not start a second run.',
      },
      answers: {
        202: { text: 'The run has started and the prompt is stored.', schema: accepted },
        404: unknown,
        ...promptRefusals,
      },
      handle: async ({ params: { sessionId = '' }, body, request, token }) => {
        sessionService.checkOpen();
        const session = await sessionService.session(sessionId, token, 'prompt');
        const started = await session.prompt(body.content, token, keyOf(request.headers['idempotency-key']));
        return { status: 202, json: started, headers: runHeaders(sessionId, started.seq) };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/resume',
      name: 'resume',
      summary:
        'Continues a run that was cut off or is waiting for decisions. Sending decisions also requires the "approve" scope.',
      scope: 'prompt',
      body: resumeBody,
      bodyOptional: true,
      answers: { 202: { text: 'Continued.', schema: accepted }, 404: unknown, 409: busy },
      handle: async ({ params: { sessionId = '' }, body, request, token }) => {
        sessionService.checkOpen();
        const runId = keyOf(request.headers['idempotency-key']);
        const session = await sessionService.session(sessionId, token, 'prompt');
        const { answers = [], compact } = body ?? {};
        const options = defined({ runId, compact: compact && defined(compact) });
        const started =
          answers.length > 0
            ? await approvals.answerAll(sessionId, answers, { runId, token })
            : await session.resume(options, token);
        return { status: 202, json: started, headers: runHeaders(sessionId, started.seq) };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/cancel',
      name: 'cancel',
      isFree: true,
      summary: 'Cancels the active run. Responds when the run has ended.',
      scope: 'prompt',
      body: z.strictObject({}).meta({ id: 'Cancel' }),
      bodyOptional: true,
      answers: { 200: { text: 'The status of the run, or `idle`.' }, 404: unknown },
      handle: async ({ params: { sessionId = '' }, token }) => {
        const { run } = await sessionService.session(sessionId, token, 'prompt');
        if (run === undefined) return { status: 200, json: { status: 'idle' } };
        run.cancel();
        return { status: 200, json: { status: (await run.result).status, runId: run.id } };
      },
    }),
    route({
      method: 'POST',
      path: '/v1/sessions/{sessionId}/steer',
      name: 'steer',
      summary: 'Sends a message to the active run; the model receives it in its next turn.',
      scope: 'prompt',
      body: z.strictObject({ content }).meta({ id: 'Steer' }),
      answers: steerAnswers,
      handle: async ({ params: { sessionId = '' }, body, token }) => {
        const session = await sessionService.session(sessionId, token, 'prompt');
        if (session.steer(body.content)) return { status: 202, json: { runId: session.run?.id } };
        throw new Problem(409, 'not_running', 'No run is active.');
      },
    }),
  ];
}

/**
 * Returns the idempotency key of a request.
 * @throws Problem 400 for a key that cannot be an id.
 */
function keyOf(header: string | string[] | undefined): string | undefined {
  if (header === undefined) return undefined;
  const key = runKey.safeParse(header);
  if (key.success) return key.data;
  throw new Problem(
    400,
    'idempotency_key',
    'The Idempotency-Key must consist of 1 to 64 letters, digits, "_" or "-".',
  );
}

import { hash } from 'node:crypto';
import { systemRuntime } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { userOf } from '../auth/access.ts';
import type { TokenInfo } from '../auth/token-store.ts';
import type { Route, RouteRequest, RouteResponse } from '../http/route.ts';
import { idPattern, route } from '../http/route.ts';
import { Problem } from '../requests/problem.ts';
import { runKey } from '../routes/schemas.ts';
import type { Services } from '../routes/services.ts';
import type { LiveSession } from '../sessions/live-session.ts';
import type { ReadLog } from '../sessions/log-pages.ts';
import { logPages } from '../sessions/log-pages.ts';
import type { ResponseChunk } from './chunk.ts';
import type { FollowedRun } from './front-routes.ts';
import { beginFront, onStreamError } from './front-routes.ts';
import { MessageExchange } from './message-exchange.ts';
import { ResponseStream, responseFrame } from './response-stream.ts';
import type { ResponsesBody } from './responses-body.ts';
import { parseResponseId, promptOf, responseId, responsesBody } from './responses-body.ts';

/**
 * Returns the routes of OpenAI's Responses API over our sessions, for clients that support no other API: the model is
 * the agent, a response is a run, `previous_response_id` names the session. They are not part of our API and not
 * versioned with it.
 */
export function responsesRoutes(services: Services): Route[] {
  return [
    route({
      method: 'POST',
      path: '/openai/v1/responses',
      name: 'createResponse',
      summary: 'Sends a prompt to the agent. Compatible with the OpenAI Responses API. Text only.',
      scope: 'prompt',
      body: responsesBody,
      answers: { 200: { text: 'A response, or a stream of its events.' } },
      problem: openAiProblem,
      handle: (call) => respond(services, call),
    }),
    route({
      method: 'GET',
      path: '/openai/v1/models',
      name: 'listModels',
      summary: 'Lists the model names that select the agent.',
      scope: 'read',
      answers: { 200: { text: 'A list of models.' } },
      problem: openAiProblem,
      handle: () => {
        const models = services.agentNames().map((id) => ({
          id,
          object: 'model',
          created: 0,
          owned_by: 'cobbler',
        }));
        return { status: 200, json: { object: 'list', data: models } };
      },
    }),
  ];
}

async function respond(
  services: Services,
  call: RouteRequest<ResponsesBody, unknown>,
): Promise<RouteResponse | undefined> {
  const { body } = call;
  const names = services.agentNames();
  if (!names.includes(body.model)) {
    const detail = `There is no model ${JSON.stringify(body.model)}. Known: ${names.join(', ')}.`;
    throw new Problem(404, 'model_not_found', detail, { extra: { param: 'model' } });
  }
  const content = promptOf(body);
  services.sessionService.checkOpen();
  if (body.stream === true) services.streams.mayOpen();
  const key = keyOf(call);
  const session = await sessionFor(services, call.token, body.previous_response_id ?? undefined, key);
  const request = { content, answers: [], ...defined({ key }) };
  const started = await beginFront(services, session, call, request);
  const response = new ResponseStream({
    id: responseId(started.accepted),
    model: body.model,
    sessionId: session.id,
    runId: started.accepted.runId,
    previous: body.previous_response_id ?? null,
    createdAt: Math.floor(systemRuntime.now() / 1000),
  });
  if (body.stream === true) return openStream(services, call, session, response, started);
  for await (const chunks of chunksOf(started)) for (const chunk of chunks) response.handle(chunk);
  return { status: 200, json: response.response };
}

/** Streams a response. The run continues if the client disconnects. */
function openStream(
  { streams, logger }: Services,
  call: RouteRequest<unknown, unknown>,
  session: LiveSession,
  response: ResponseStream,
  started: FollowedRun,
): undefined {
  const stream = streams.openFront(call, session, {});
  const write = (events: readonly Record<string, unknown>[]) => {
    if (events.length > 0) stream.write(events.map(responseFrame).join(''));
  };
  const tell = async () => {
    write(response.start());
    for await (const chunks of chunksOf(started)) {
      if (stream.closed) return;
      write(chunks.flatMap((chunk) => response.handle(chunk)));
    }
    stream.end();
  };
  tell().catch(onStreamError(stream, logger));
  return undefined;
}

async function* chunksOf({ events }: FollowedRun): AsyncGenerator<readonly ResponseChunk[]> {
  const exchange = new MessageExchange();
  for await (const event of events) yield exchange.handle(event);
}

/** Returns the session to continue, a copy of it up to that response if it has continued since, or a new one. */
async function sessionFor(
  { sessionService, store }: Services,
  token: TokenInfo | undefined,
  previous: string | undefined,
  key: string | undefined,
): Promise<LiveSession> {
  // The same key selects the session in which that run started.
  if (previous === undefined)
    return await sessionService.openOrCreate(
      key === undefined ? systemRuntime.id() : idOfKey(key, token),
      token,
      'prompt',
    );
  const { sessionId, seq } = parseResponseId(previous);
  if (!new RegExp(`^${idPattern}$`).test(sessionId)) throw unknownResponse(previous);
  const session = await sessionService.session(sessionId, token, 'prompt').catch((error: unknown) => {
    throw error instanceof Problem && error.status === 404 ? unknownResponse(previous) : error;
  });
  if (seq === undefined) return session;
  if (key !== undefined && (await session.findRun(key)) !== undefined) return session;
  const next = await nextMessageSeq((after, limit) => store.read(sessionId, after, limit), seq);
  if (next === undefined) return session;
  return await sessionService.session(await session.fork(next - 1, token), token, 'prompt');
}

/** Returns the id of the session of a key. Users choose the same keys, so it depends on the user too. */
function idOfKey(key: string, token: TokenInfo | undefined): string {
  const user = token === undefined ? '' : userOf(token);
  return `openai-${hash('sha256', JSON.stringify([user, key])).slice(0, 32)}`;
}

/** Returns the `seq` of the next user message. */
async function nextMessageSeq(read: ReadLog, seq: number): Promise<number | undefined> {
  for await (const page of logPages(read, seq)) {
    const message = page.find((event) => event.type === 'user' && event.steer !== true);
    if (message !== undefined) return message.seq;
  }
  return undefined;
}

function unknownResponse(id: string): Problem {
  const detail = `There is no response ${JSON.stringify(id)}.`;
  return new Problem(404, 'response_not_found', detail, { extra: { param: 'previous_response_id' } });
}

/** Returns the key of a request. One that cannot be a run id is ignored, because no other request depends on it. */
function keyOf({ request }: RouteRequest<unknown, unknown>): string | undefined {
  const key = runKey.safeParse(request.headers['idempotency-key']);
  return key.success ? key.data : undefined;
}

const errorTypes: Readonly<Record<number, string>> = {
  401: 'authentication_error',
  403: 'permission_error',
  409: 'conflict_error',
  429: 'rate_limit_error',
};

function openAiProblem({ status, code, message, headers, extra }: Problem, requestId: string): RouteResponse {
  const type = errorTypes[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
  const param = typeof extra['param'] === 'string' ? extra['param'] : null;
  return {
    status,
    json: { error: { message, type, param, code: status === 401 ? 'invalid_api_key' : code } },
    headers: { ...headers, 'x-request-id': requestId },
  };
}

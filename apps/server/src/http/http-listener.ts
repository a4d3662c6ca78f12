import { randomUUID } from 'node:crypto';
import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer, STATUS_CODES } from 'node:http';
import type { Socket } from 'node:net';
import { defined } from '@cobbler/agent/values';
import type { AuthGuard } from '../auth/auth-guard.ts';
import type { RequestRate } from '../auth/request-rate.ts';
import type { ServerLimits } from '../requests/limits.ts';
import { asProblem, Problem, problemDocument } from '../requests/problem.ts';
import { readBody, validate } from '../requests/request-body.ts';
import type { Logger } from '../telemetry/logger.ts';
import type { Meters } from '../telemetry/meters.ts';
import type { Match, Route, RouteResponse } from './route.ts';
import { Router } from './route.ts';

/** Options of the HTTP listener. */
export interface HttpListenerOptions {
  readonly routes: readonly Route[];
  readonly authGuard: AuthGuard;
  readonly rate: RequestRate;
  readonly limits: ServerLimits;
  readonly logger: Logger;
  readonly meters: Meters;
  readonly version: string;
}

const security = {
  'cache-control': 'no-store',
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
};

/** Creates the HTTP side: limits connections, checks every request in one place, and turns failures into problems. */
export function createHttpListener(options: HttpListenerOptions): Server {
  const { limits, meters } = options;
  const router = new Router(options.routes);
  const server = createServer({
    // Node rejects a time limit for the headers that is longer than that of the whole request.
    headersTimeout: Math.min(limits.headersMs, limits.requestMs),
    requestTimeout: limits.requestMs,
    // Interval of connection checks: limits are accurate to within this.
    connectionsCheckingInterval: Math.min(1_000, limits.headersMs),
    keepAliveTimeout: 5_000,
    maxHeaderSize: 16 * 1024,
  });
  server.maxConnections = limits.connections;
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    void serve(request, response, router, options);
  });
  server.on('clientError', (error: NodeJS.ErrnoException, socket: Socket) => {
    meters.count('cobbler_http_refused_total', 'Requests that were not HTTP or arrived too slowly.');
    refuse(error, socket);
  });
  // Only HTTP is supported: close the connection of a tunnel or another protocol.
  server.on('connect', (_request, socket) => socket.destroy());
  server.on('upgrade', (_request, socket) => socket.destroy());
  return server;
}

async function serve(
  request: IncomingMessage,
  response: ServerResponse,
  router: Router,
  options: HttpListenerOptions,
): Promise<void> {
  const requestId = requestIdOf(request);
  const began = performance.now();
  let match: Match | undefined;
  response.on('error', ignore);
  request.on('error', ignore);
  try {
    options.authGuard.checkHeaders(request);
    options.authGuard.checkOrigin(request);
    const path = pathOf(request);
    match = findRoute(router, request, path);
    const reply = await handleRequest(match, path, request, response, requestId, options);
    if (reply !== undefined) send(response, reply, requestId, options.version, request.method === 'HEAD');
  } catch (thrown) {
    fail(thrown, response, requestId, options, match?.route.problem);
  }
  const { logger, meters } = options;
  const [route, status] = [match?.route.path ?? 'none', String(response.statusCode)];
  const [method, seconds] = [match?.route.method ?? 'none', (performance.now() - began) / 1000];
  meters.count('cobbler_http_requests_total', 'Completed requests.', { method, route, status });
  meters.observe('cobbler_http_request_seconds', 'Response time.', { route }, seconds);
  const facts = { requestId, method: request.method, route, status: response.statusCode };
  logger.note('debug', 'request', { ...facts, ms: Math.round(seconds * 1000) });
}

/** Does nothing: a broken connection emits `close`. */
function ignore(): void {}

function pathOf({ url = '/' }: IncomingMessage): URL {
  const parsed = url.startsWith('/') ? URL.parse(`http://cobbler${url}`) : null;
  if (parsed === null || parsed.host !== 'cobbler')
    throw new Problem(400, 'bad_path', 'The URL is malformed.');
  return parsed;
}

function findRoute(router: Router, { method = '' }: IncomingMessage, { pathname }: URL): Match {
  const match = router.find(method, pathname);
  if ('route' in match) return match;
  if (match.length === 0) throw new Problem(404, 'no_route', 'There is no route at this address.');
  const headers = { allow: [...new Set(match)].join(', ') };
  throw new Problem(405, 'method', `This route accepts only ${headers.allow}.`, { headers });
}

async function handleRequest(
  { route, params }: Match,
  { searchParams }: URL,
  request: IncomingMessage,
  response: ServerResponse,
  requestId: string,
  { authGuard, rate, limits }: HttpListenerOptions,
): Promise<RouteResponse | undefined> {
  const { scope } = route;
  const token = scope === undefined ? undefined : authGuard.identify(request, scope);
  if (token !== undefined && route.method !== 'GET' && route.isFree !== true) rate.count(token);
  const query =
    route.query === undefined ? {} : validate(route.query, Object.fromEntries(searchParams), 'bad_query');
  const sent = await readBody(request, limits.bodyBytes);
  const optional = route.body === undefined || (sent === undefined && route.bodyOptional === true);
  const body = optional ? undefined : validate(route.body, sent, 'invalid_body');
  return await route.handle({
    params,
    query,
    body,
    requestId,
    request,
    response,
    ...defined({ token }),
  });
}

function send(
  response: ServerResponse,
  reply: RouteResponse,
  requestId: string,
  version: string,
  headOnly = false,
): void {
  if (response.headersSent || response.destroyed) return;
  const text = reply.text ?? (reply.json === undefined ? undefined : JSON.stringify(reply.json));
  response.writeHead(reply.status, {
    ...security,
    'x-request-id': requestId,
    'cobbler-version': version,
    ...(text !== undefined && {
      'content-type': 'application/json; charset=utf-8',
      'content-length': String(Buffer.byteLength(text)),
    }),
    ...reply.headers,
  });
  response.end(headOnly ? undefined : text);
}

function fail(
  thrown: unknown,
  response: ServerResponse,
  requestId: string,
  options: HttpListenerOptions,
  written: (problem: Problem, requestId: string) => RouteResponse = problemReply,
): void {
  const problem = asProblem(thrown);
  if (problem.status >= 500) {
    const reason = thrown instanceof Error ? `${thrown.name}: ${thrown.message}` : String(thrown);
    options.logger.note('error', 'a request failed', { requestId, code: problem.code, reason });
  }
  if (response.headersSent) return void response.destroy();
  send(response, written(problem, requestId), requestId, options.version);
}

function problemReply(problem: Problem, requestId: string): RouteResponse {
  return {
    status: problem.status,
    json: problemDocument(problem, requestId),
    headers: { ...problem.headers, 'content-type': 'application/problem+json; charset=utf-8' },
  };
}

/** Returns the client's request id if it is safe to log, otherwise a new one. */
function requestIdOf({ headers }: IncomingMessage): string {
  const given = headers['x-request-id'];
  return typeof given === 'string' && /^[A-Za-z0-9._-]{1,64}$/.test(given) ? given : randomUUID();
}

const refusals: Readonly<Record<string, readonly [status: number, code: string, detail: string]>> = {
  ERR_HTTP_REQUEST_TIMEOUT: [408, 'slow', 'The request took too long to arrive.'],
  HPE_HEADER_OVERFLOW: [431, 'headers_too_large', 'The headers are too large.'],
};

/** Responds to data that is not HTTP or an incomplete request, and closes the connection. */
function refuse(error: NodeJS.ErrnoException, socket: Socket): void {
  if (!socket.writable || error.code === 'ECONNRESET') return void socket.destroy();
  const [status, code, detail] = refusals[error.code ?? ''] ?? [
    400,
    'bad_request',
    'The request is not valid HTTP.',
  ];
  const body = JSON.stringify(problemDocument(new Problem(status, code, detail), randomUUID()));
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/problem+json; charset=utf-8',
    `content-length: ${Buffer.byteLength(body)}`,
    'connection: close',
  ];
  socket.end(`${head.join('\r\n')}\r\n\r\n${body}`);
  setTimeout(() => socket.destroy(), 1_000).unref();
}

import type { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { SessionStore } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { callable, flag, listOf, oneOf, read, record, text, when, withMethods } from '@cobbler/agent/input';
import { defined } from '@cobbler/agent/values';
import { AuthGuard } from './auth/auth-guard.ts';
import { RequestRate } from './auth/request-rate.ts';
import { TokenStore } from './auth/token-store.ts';
import { frontRoutes } from './front-ends/front-routes.ts';
import { responsesRoutes } from './front-ends/responses-routes.ts';
import { createHttpListener } from './http/http-listener.ts';
import type { Route } from './http/route.ts';
import { Cookies } from './requests/cookie.ts';
import type { ServerLimits } from './requests/limits.ts';
import { defaultLimits, readLimits } from './requests/limits.ts';
import { approvalRoutes } from './routes/approval-routes.ts';
import { costRoutes } from './routes/cost-routes.ts';
import { descriptionRoutes } from './routes/description-routes.ts';
import { eventRoutes, plainRoutes } from './routes/event-routes.ts';
import { operationRoutes, Readiness } from './routes/operation-routes.ts';
import { pageRoutes } from './routes/page-routes.ts';
import { commandRoutes, undoRoutes } from './routes/place-routes.ts';
import { runRoutes } from './routes/run-routes.ts';
import type { PlaceFacts, Services, ShareChange } from './routes/services.ts';
import { contentRoutes, sessionRoutes } from './routes/session-routes.ts';
import { tokenRoutes } from './routes/token-routes.ts';
import { ApprovalService } from './sessions/approval-service.ts';
import type { ServerModels } from './sessions/session-models.ts';
import { readModels } from './sessions/session-models.ts';
import type { SessionPlaces } from './sessions/session-places.ts';
import { readPlaces } from './sessions/session-places.ts';
import type { Elsewhere } from './sessions/session-service.ts';
import { SessionService } from './sessions/session-service.ts';
import type { SessionSettings } from './sessions/session-work.ts';
import { readStore } from './sessions/session-work.ts';
import { StoreWatch } from './sessions/store-watch.ts';
import type { ServerBudgets } from './sessions/token-budgets.ts';
import { readBudgets, TokenBudgets } from './sessions/token-budgets.ts';
import { Streams } from './streams/streams.ts';
import type { Level, LineSink } from './telemetry/logger.ts';
import { Logger } from './telemetry/logger.ts';
import { Meters } from './telemetry/meters.ts';

/** Options of a server. Only they determine what a session may do; no request can. */
export interface ServerOptions {
  readonly store: SessionStore;
  /** Returns the settings of a session. Called when it is opened, and after `renewSettings`. */
  readonly settings: (sessionId: string) => SessionSettings;
  /** The models that users can choose. Default: only that of the settings. Not with `elsewhere`. */
  readonly models?: ServerModels;
  /** Returns where the agent works and what it may do, for users. Default: nothing is shown. */
  readonly place?: () => PlaceFacts;
  /** The runner with which runs survive this process. Default: runs execute here, and continue at the next start. */
  readonly elsewhere?: Elsewhere;
  readonly tokens: TokenStore;
  /** The budgets of tokens. Not with `elsewhere`. Default: no token can have one. */
  readonly budgets?: ServerBudgets;
  /** Default: 127.0.0.1. */
  readonly host?: string;
  /** Default: 0, any free port. */
  readonly port?: number;
  /** Allowed host names in addition to those of this machine, such as that of a proxy. */
  readonly allowedHosts?: readonly string[];
  readonly limits?: Partial<ServerLimits>;
  /** Called when a session was shared with a user, or no longer. */
  readonly onShare?: (change: ShareChange) => void;
  /** Whether to continue interrupted runs at start: all, or those of sessions for which it returns true. Default: true. */
  readonly resumes?: boolean | ((sessionId: string) => boolean);
  /** The directories of the sessions. Default: the settings know them. */
  readonly places?: SessionPlaces;
  /** Receives the lines of the log. Default: none. */
  readonly log?: LineSink;
  readonly level?: Level;
  /** The public properties of a server. */
  readonly version?: string;
}

/** A running server. */
export interface CobblerServer {
  /** For example `http://127.0.0.1:4317`. */
  readonly url: string;
  readonly http: Server;
  /** Asks for the settings of each session again, before its next run. */
  renewSettings(): void;
  /** Rejects new prompts, lets runs end within the time limit, and releases all resources. */
  close(): Promise<void>;
}

/** The session id for requesting settings that belong to no session. */
const settingsSessionId = 'cobbler';

const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '::1', 'localhost']);

const readOptions = record<ServerOptions>(
  {
    store: readStore,
    settings: callable,
    models: readModels,
    place: callable,
    elsewhere: record<Elsewhere>({ runner: withMethods('start', 'cancel', 'status'), watch: callable }, [
      'runner',
    ]),
    budgets: readBudgets,
    tokens: when((value) => value instanceof TokenStore, 'a TokenStore'),
    host: when((value) => typeof value === 'string' && /^[^\s\0]+$/.test(value), 'a host name or an address'),
    port: when(
      (value) => Number.isInteger(value) && Number(value) >= 0 && Number(value) <= 65_535,
      'a port from 0 to 65535',
    ),
    allowedHosts: listOf(text),
    limits: readLimits,
    resumes: (value) => (typeof value === 'function' ? callable(value) : flag(value)),
    places: readPlaces,
    onShare: callable,
    log: callable,
    level: oneOf('debug', 'info', 'warn', 'error'),
    version: text,
  },
  ['store', 'settings', 'tokens'],
);

/**
 * Starts a server.
 * @throws AgentError `invalid`: code `bad_option`, code `port_in_use`, or `listen` for an invalid address.
 */
export async function startServer(given: ServerOptions): Promise<CobblerServer> {
  const options = read(given, readOptions);
  const limits: ServerLimits = { ...defaultLimits, ...options.limits };
  const { tokens, host = '127.0.0.1', version = '0.0.0' } = options;
  const logger = new Logger(options.log ?? (() => undefined), options.level);
  const meters = new Meters();
  const services = servicesOf(options, limits, logger, meters);
  const { sessionService, approvals, streams, cookies } = services;
  const allowed = [...(options.allowedHosts ?? []), ...(loopback.has(host) ? [] : [host])];
  const authGuard = new AuthGuard(tokens, cookies, allowed);
  const httpServer = createHttpListener({
    routes: allRoutes(services, version),
    authGuard,
    rate: new RequestRate(tokens.now),
    limits,
    logger,
    meters,
    version,
  });
  tokens.onRemove((id) => sessionService.endStreams(id));
  await approvals.restore();
  await listen(httpServer, options.port ?? 0, host);
  const { resumes = true } = options;
  if (resumes !== false) await sessionService.resumeInterrupted(resumes === true ? () => true : resumes);
  const stopLooking = pollStore(services, limits.othersMs);
  const stopWatching = options.elsewhere?.watch?.(
    (sessionId) => void sessionService.publishOthers(sessionId).catch(() => undefined),
  );
  const { port } = httpServer.address() as AddressInfo;
  const url = `http://${host.includes(':') ? `[${host}]` : host}:${port}`;
  logger.note('info', 'listening', { url });
  let closing: Promise<void> | undefined;
  const close = async () => {
    logger.note('info', 'stopping', { running: sessionService.running });
    stopLooking();
    stopWatching?.();
    services.watch.close();
    await sessionService.drain(limits.drainMs);
    streams.close();
    const closed = new Promise<void>((resolve) => httpServer.close(() => resolve()));
    httpServer.closeIdleConnections();
    setTimeout(() => httpServer.closeAllConnections(), 1_000).unref();
    await closed;
  };
  return {
    url,
    http: httpServer,
    renewSettings: () => sessionService.renew(),
    close() {
      closing ??= close();
      return closing;
    },
  };
}

function servicesOf(options: ServerOptions, limits: ServerLimits, logger: Logger, meters: Meters): Services {
  const { store, tokens } = options;
  options.budgets?.store.onAlert((alert) => {
    logger.note('warn', 'a budget reached an alert threshold', { ...alert });
  });
  const tokenBudgets = new TokenBudgets(
    options.elsewhere === undefined ? options.budgets : undefined,
    tokens.now,
    (sessionId) => options.settings(sessionId).onReached === 'ask',
  );
  const sessionService: SessionService = new SessionService({
    store,
    settings: options.settings,
    ...defined({ elsewhere: options.elsewhere, places: options.places, models: options.models }),
    tokens,
    budgets: tokenBudgets,
    limits,
    logger,
    meters,
    onCreate: (sessionId) => approvals.forget(sessionId),
    onEvent: (sessionId, event) => {
      approvals.handle(sessionId, event);
      if (event.type !== 'finished') return;
      const { status, error, runId } = event;
      logger.note('info', 'run ended', {
        sessionId,
        runId,
        status,
        ...(error && { reason: error.message }),
      });
    },
  });
  const approvals: ApprovalService = new ApprovalService(sessionService, store, options.places);
  const readiness = new Readiness({
    probe: () => store.probe(),
    reuseMs: limits.readyMs,
    timeoutMs: limits.probeMs,
    onChange: (failure) => {
      if (failure === undefined) logger.note('info', 'the store is writable');
      else logger.note('error', 'the store is not writable', { code: failure.code, reason: failure.message });
    },
  });
  meters.gauge('cobbler_sessions_live', 'Sessions in memory.', () => sessionService.size);
  meters.gauge('cobbler_runs_active', 'Active runs.', () => sessionService.running);
  meters.gauge('cobbler_approvals_pending', 'Calls waiting for approval.', () => approvals.list().length);
  meters.gauge('process_resident_memory_bytes', 'Memory in use.', () => process.memoryUsage.rss());
  return {
    sessionService,
    store,
    approvals,
    tokens,
    tokenBudgets,
    cookies: new Cookies((id) => tokens.cookieKey(id), tokens.now),
    streams: new Streams(limits, meters, tokens),
    meters,
    logger,
    limits,
    watch: new StoreWatch(store, tokens.now),
    ...defined({
      onShare: options.onShare,
      places: options.places,
      models: options.models,
      place: options.place,
    }),
    agentNames: () => [...new Set(['cobbler', options.settings(settingsSessionId).agent.model])],
    async readiness() {
      return sessionService.isClosing ? 'The server is stopping.' : await readiness.reason();
    },
  };
}

/** Returns all routes: the API, its description, and the routes outside the API, which are OpenAI's and the page. */
export function allRoutes(services: Services, version: string): Route[] {
  const routes = [
    ...sessionRoutes(services),
    ...contentRoutes(services),
    ...undoRoutes(services),
    ...commandRoutes(services),
    ...runRoutes(services),
    ...eventRoutes(services),
    ...frontRoutes(services),
    ...approvalRoutes(services),
    ...tokenRoutes(services),
    ...costRoutes(services),
    ...operationRoutes(services),
    ...plainRoutes(services),
  ];
  const described = [...routes, ...descriptionRoutes(routes, version)];
  return [...described, ...responsesRoutes(services), ...pageRoutes()];
}

/** Checks at intervals for events of other processes, one check at a time. Returns a function that stops it. */
function pollStore({ sessionService, watch }: Services, everyMs: number): () => void {
  let isLooking = false;
  const look = async () => {
    if (isLooking || !watch.look(sessionService.readers > 0)) return;
    isLooking = true;
    // If the store cannot be read, each request reports it.
    await sessionService.publishOthers().catch(() => undefined);
    isLooking = false;
  };
  const timer = setInterval(() => void look(), everyMs).unref();
  return () => clearInterval(timer);
}

function listen(server: Server, port: number, host: string): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const sessionInUse = error.code === 'EADDRINUSE';
      const message = sessionInUse
        ? `Cannot listen on port ${port} on ${host}: another process is using the port. Choose another port.`
        : `Cannot listen on port ${port} on ${host} (${error.code}).`;
      reject(new AgentError({ kind: 'invalid', code: sessionInUse ? 'port_in_use' : 'listen', message }));
    });
    server.listen({ port, host, backlog: 1024 }, resolve);
  });
}

import type { AgentApp, AgentContext, ListSessionsResponse } from '@agentclientprotocol/sdk';
import { agent, PROTOCOL_VERSION, RequestError } from '@agentclientprotocol/sdk';
import { AgentError } from '@cobbler/agent';
import type { LocalHost } from '../chat/local-host.ts';
import { isStored, sessionsIn } from '../session/find-session.ts';
import type { CliSessions } from '../session/session-home.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { AcpSession } from './acp-session.ts';

/** Options for serving editors. */
export interface AcpSessions {
  readonly version: string;
  /** The stored sessions; if absent, sessions are not stored. */
  readonly sessions?: CliSessions;
  /** Opens the conversations of a directory. */
  open(folder: string): Promise<LocalHost>;
  /** Writes a line to the editor's log. */
  report(line: string): void;
}

/** A server for version 1 of the Agent Client Protocol. */
export interface AcpServer {
  readonly app: AgentApp;
  /** Cancels the active runs. Resolves when all of them have ended. */
  close(): Promise<void>;
}

const maxListed = 100;

/** Serves one editor. */
export function acpServer(services: AcpSessions): AcpServer {
  const open = new Map<string, AcpSession>();
  const begin = async (folder: string, client: AgentContext, sessionId?: string): Promise<AcpSession> => {
    const host = await services.open(folder);
    const id = sessionId === undefined ? {} : { sessionId };
    const session = new AcpSession({ host, client, report: (line) => services.report(line), ...id });
    const past = sessionId === undefined ? [] : await host.past(sessionId);
    await open.get(session.id)?.close();
    open.set(session.id, session);
    await session.replay(past);
    // The editor knows the session only after the response.
    setImmediate(() => session.announce());
    return session;
  };
  const app = agent({ name: 'cobbler' })
    .onRequest('initialize', () => ({
      protocolVersion: PROTOCOL_VERSION,
      agentInfo: { name: 'cobbler', title: 'Cobbler', version: services.version },
      agentCapabilities: {
        loadSession: services.sessions !== undefined,
        promptCapabilities: { image: true, embeddedContext: true },
        ...(services.sessions !== undefined && { sessionCapabilities: { list: {} } }),
      },
      authMethods: [],
    }))
    .onRequest('session/new', ({ params, client }) =>
      withRequestErrors(async () => {
        reportServers(params.mcpServers.length, services);
        return { sessionId: (await begin(params.cwd, client)).id };
      }),
    )
    .onRequest('session/load', ({ params, client }) =>
      withRequestErrors(async () => {
        reportServers(params.mcpServers.length, services);
        if (!(await isStored(services.sessions, params.sessionId))) throw unknownError(params.sessionId);
        await begin(params.cwd, client, params.sessionId);
        return {};
      }),
    )
    .onRequest('session/list', ({ params }) =>
      withRequestErrors(() => listSessions(services.sessions, params.cwd ?? undefined)),
    )
    .onRequest('session/prompt', ({ params, signal }) =>
      withRequestErrors(async () => {
        const session = open.get(params.sessionId);
        if (session === undefined) throw notOpenError(params.sessionId);
        return await session.prompt(params.prompt, signal);
      }),
    )
    .onNotification('session/cancel', ({ params }) => open.get(params.sessionId)?.cancel());
  return {
    app,
    close: async () => {
      await Promise.all([...open.values()].map((session) => session.close()));
    },
  };
}

/** Converts an error to one that an editor can show: the message, and what to do. */
async function withRequestErrors<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof RequestError) throw error;
    if (error instanceof UsageError)
      throw new RequestError(-32602, [error.message, ...error.advice].join('\n'));
    throw new RequestError(-32603, AgentError.from(error).message);
  }
}

async function listSessions(
  sessions: CliSessions | undefined,
  folder: string | undefined,
): Promise<ListSessionsResponse> {
  const rows: ListSessionsResponse['sessions'] = [];
  if (sessions === undefined) return { sessions: rows };
  for await (const { id, title, updatedAt } of sessionsIn(sessions, folder)) {
    const cwd = folder ?? sessions.notes.read(id)?.folder;
    if (cwd !== undefined) rows.push({ sessionId: id, cwd, title, updatedAt });
    if (rows.length === maxListed) break;
  }
  return { sessions: rows };
}

function reportServers(count: number, services: AcpSessions): void {
  if (count > 0)
    services.report(
      `Cobbler ignores the editor's MCP servers (${count}). To use them, pass --mcp or add them to the configuration.`,
    );
}

function unknownError(id: string): RequestError {
  return new RequestError(-32602, `There is no session ${JSON.stringify(id)}. Create a new one.`);
}

function notOpenError(id: string): RequestError {
  return new RequestError(-32602, `Session ${JSON.stringify(id)} is not open. Open it with session/load.`);
}

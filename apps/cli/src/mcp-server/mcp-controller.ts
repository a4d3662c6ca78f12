import { AgentError } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import type { LocalHost } from '../chat/local-host.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { McpRunState, WaitOptions } from './mcp-session.ts';
import { McpSession } from './mcp-session.ts';
import { servedTools } from './served-tools.ts';

/** Options for serving clients. */
export interface McpControllerOptions {
  readonly version: string;
  readonly host: LocalHost;
  /** True if a session with this id is stored. */
  readonly isKept: (sessionId: string) => Promise<boolean>;
  /** Writes a line to the client's log. */
  readonly report: (line: string) => void;
}

type Args = Readonly<Record<string, unknown>>;

/** The Cobbler agent as a server of the Model Context Protocol. */
export interface McpController {
  readonly server: Server;
  /** Cancels the active runs. Resolves when all of them have ended. */
  close(): Promise<void>;
}

export function mcpController(parts: McpControllerOptions): McpController {
  const sessions = new Map<string, McpSession>();
  const server = new Server(
    { name: 'cobbler', title: 'Cobbler', version: parts.version },
    { capabilities: { tools: {} } },
  );
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: servedTools }));
  server.setRequestHandler(CallToolRequestSchema, async ({ params }, { signal, sendNotification, _meta }) => {
    const token = _meta?.progressToken;
    let progress = 0;
    const tell = (message: string) => {
      if (token === undefined || signal.aborted) return;
      progress += 1;
      const notification = { progressToken: token, progress, message };
      // A lost client is detected by its connection, not here.
      sendNotification({ method: 'notifications/progress', params: notification }).catch(() => undefined);
    };
    const runAction = actions[params.name];
    if (runAction === undefined) return failure(`Unknown tool ${JSON.stringify(params.name)}.`);
    try {
      return await runAction(params.arguments ?? {}, { parts, sessions }, { signal, tell });
    } catch (error) {
      const advice = error instanceof UsageError ? error.advice : [];
      return failure([AgentError.from(error).message, ...advice].join('\n'));
    }
  });
  return {
    server,
    close: async () => {
      await Promise.all([...sessions.values()].map((session) => session.close()));
    },
  };
}

interface McpToolContext {
  readonly parts: McpControllerOptions;
  readonly sessions: Map<string, McpSession>;
}

type McpToolAction = (args: Args, place: McpToolContext, waiting: WaitOptions) => Promise<CallToolResult>;

const actions: Readonly<Record<string, McpToolAction>> = {
  async cobbler_run(args, place, waiting) {
    const prompt = requiredText(args, 'prompt');
    const session = await openSession(place, text(args, 'session_id'));
    session.say(prompt);
    // A client that cancels the request also cancels its work.
    const onAbort = () => void session.cancel();
    if (args['background'] === true) return resultOf(session.state);
    waiting.signal.addEventListener('abort', onAbort, { once: true });
    await session.waitForSettled(waiting);
    waiting.signal.removeEventListener('abort', onAbort);
    return resultOf(session.state);
  },
  async cobbler_status(args, place, waiting) {
    const id = text(args, 'session_id');
    if (id === undefined) return await listSessions(place);
    const session = await openSession(place, id);
    const seconds = args['wait_seconds'];
    if (typeof seconds === 'number' && seconds > 0)
      await session.waitForSettled({ ...waiting, ms: Math.min(seconds, 600) * 1000 });
    return resultOf(session.state);
  },
  async cobbler_approve(args, { sessions }, waiting) {
    const session = runningSession(sessions, requiredText(args, 'session_id'));
    const decision = requiredText(args, 'decision');
    if (decision !== 'allow' && decision !== 'deny')
      throw new UsageError('decision must be "allow" or "deny".');
    const message = text(args, 'message');
    session.decide(requiredText(args, 'approval_id'), { decision, ...defined({ message }) });
    await session.waitForSettled(waiting);
    return resultOf(session.state);
  },
  async cobbler_steer(args, { sessions }) {
    const session = runningSession(sessions, requiredText(args, 'session_id'));
    if (!session.steer(requiredText(args, 'text'))) throw new UsageError('No run is active in this session.');
    return resultOf(session.state);
  },
  async cobbler_cancel(args, { sessions }) {
    const session = runningSession(sessions, requiredText(args, 'session_id'));
    await session.cancel();
    return resultOf(session.state);
  },
};

async function openSession({ parts, sessions }: McpToolContext, id: string | undefined): Promise<McpSession> {
  const known = id === undefined ? undefined : sessions.get(id);
  if (known !== undefined) return known;
  if (id !== undefined && !(await parts.isKept(id))) throw unknown(id);
  // Two requests may have checked at the same time.
  const session =
    (id === undefined ? undefined : sessions.get(id)) ?? new McpSession(parts.host, id, parts.report);
  sessions.set(session.id, session);
  return session;
}

function runningSession(sessions: ReadonlyMap<string, McpSession>, id: string): McpSession {
  const session = sessions.get(id);
  if (session === undefined) throw unknown(id);
  return session;
}

function unknown(id: string): UsageError {
  return new UsageError(`There is no session ${JSON.stringify(id)}.`, 'List the sessions: cobbler_status');
}

async function listSessions({ parts, sessions }: McpToolContext): Promise<CallToolResult> {
  const active = [...sessions.values()].map(({ state }) => state);
  const kept = (await parts.host.sessions())
    .filter(({ info }) => !sessions.has(info.id))
    .slice(0, 20)
    .map(({ info: { id, status, title } }) => ({ session_id: id, status, title }));
  const list = { sessions: [...active, ...kept] };
  return { content: [{ type: 'text', text: JSON.stringify(list) }], structuredContent: list };
}

/** Returns the state as text for the client's model, and completely as data. */
function resultOf(state: McpRunState): CallToolResult {
  const { text: answer, approvals, ...rest } = state;
  const facts = JSON.stringify(approvals === undefined ? rest : { ...rest, approvals });
  const texts = answer === undefined || answer === '' ? [facts] : [answer, facts];
  return {
    content: texts.map((words) => ({ type: 'text', text: words })),
    structuredContent: { ...state },
    ...(state.problem !== undefined && { isError: true }),
  };
}

function failure(message: string): CallToolResult {
  return { content: [{ type: 'text', text: message }], isError: true };
}

function text(args: Args, name: string): string | undefined {
  const value = args[name];
  if (value === undefined || value === null) return undefined;
  if (typeof value !== 'string') throw new UsageError(`${name} must be a string.`);
  return value;
}

function requiredText(args: Args, name: string): string {
  const value = text(args, name);
  if (value === undefined || value.trim() === '') throw new UsageError(`${name} is required.`);
  return value;
}

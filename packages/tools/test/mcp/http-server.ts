import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Server } from '@modelcontextprotocol/sdk/server/index.js';
import { StreamableHTTPServerTransport } from '@modelcontextprotocol/sdk/server/streamableHttp.js';
import { CallToolRequestSchema, ListToolsRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { onTestFinished } from 'vitest';

/** A streamable HTTP server of the official MCP SDK that can misbehave. */
export interface HttpServer {
  readonly url: string;
  /** Received requests: HTTP method and, if there is a message, its JSON-RPC method. */
  readonly requests: readonly string[];
  /** Forgets all sessions, as after a restart. */
  forget(): void;
  /** Sends the next tool call to this function instead of the server. */
  next(answer: (request: IncomingMessage, response: ServerResponse) => void): void;
}

export async function httpServer(token?: string): Promise<HttpServer> {
  const sessions = new Map<string, StreamableHTTPServerTransport>();
  const requests: string[] = [];
  let instead: ((request: IncomingMessage, response: ServerResponse) => void) | undefined;
  const http = createServer({ keepAliveTimeout: 0 }, (request, response) => {
    void bodyOf(request).then(async (body) => {
      requests.push([request.method, body?.method].filter(Boolean).join(' '));
      if (token !== undefined && request.headers.authorization !== `Bearer ${token}`)
        return void response.writeHead(401).end();
      const id = request.headers['mcp-session-id'];
      if (typeof id === 'string' && !sessions.has(id)) return void response.writeHead(404).end();
      if (body?.method === 'tools/call' && instead !== undefined) {
        const answer = instead;
        instead = undefined;
        return answer(request, response);
      }
      const session = typeof id === 'string' ? sessions.get(id) : undefined;
      await (session ?? (await newSession(sessions))).handleRequest(request, response, body);
    });
  });
  await new Promise<void>((resolve) => http.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    requests,
    forget: () => sessions.clear(),
    next: (answer) => {
      instead = answer;
    },
  };
}

async function newSession(
  sessions: Map<string, StreamableHTTPServerTransport>,
): Promise<StreamableHTTPServerTransport> {
  const transport = new StreamableHTTPServerTransport({
    sessionIdGenerator: () => randomUUID(),
    onsessioninitialized: (id) => void sessions.set(id, transport),
  });
  const server = new Server(
    { name: 'web', version: '2' },
    { capabilities: { tools: { listChanged: true } } },
  );
  const inputSchema = { type: 'object' as const, properties: {} };
  server.setRequestHandler(ListToolsRequestSchema, () => ({ tools: [{ name: 'echo', inputSchema }] }));
  server.setRequestHandler(CallToolRequestSchema, ({ params }) => ({
    content: [{ type: 'text', text: JSON.stringify(params.arguments) }],
  }));
  // The types of the SDK are not compatible with `exactOptionalPropertyTypes`.
  await server.connect(transport as Parameters<Server['connect']>[0]);
  return transport;
}

async function bodyOf(request: IncomingMessage): Promise<{ method?: string } | undefined> {
  let text = '';
  for await (const chunk of request) text += String(chunk);
  return text === '' ? undefined : (JSON.parse(text) as { method?: string });
}

import type { IncomingMessage, Server, ServerResponse } from 'node:http';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { acceptUpdate } from '@cobbler/assistant/telegram';
import { UsageError } from '../terminal/usage-error.ts';

export interface WebhookEndpointOptions {
  readonly host: string;
  /** 0 selects any free port. */
  readonly port: number;
  readonly path: string;
  readonly secret: string;
  /** Resolves when the update is stored durably or can be ignored. */
  readonly onUpdate: (update: unknown) => Promise<void>;
  /** Called for each rejected request with the reason. */
  readonly onRefused: (status: number, reason: string) => void;
}

export interface WebhookEndpoint {
  readonly url: string;
  /** Waits briefly for active requests to finish. */
  close(): Promise<void>;
}

/** Time limit for the headers, in milliseconds. Telegram does not send them slowly. */
const headersMs = 10_000;
const requestMs = 30_000;
const closingMs = 2000;

/**
 * Serves the webhook for Telegram, with the responses of `acceptUpdate`, and 404 and 405 for a wrong path or method, or
 * 408 if a request is too slow.
 * @throws UsageError if the port is in use.
 */
export async function serveWebhook(options: WebhookEndpointOptions): Promise<WebhookEndpoint> {
  const { host, port, path } = options;
  const server = createServer(
    { headersTimeout: headersMs, requestTimeout: requestMs, maxHeaderSize: 16_384 },
    (request, response) => {
      answer(request, options)
        .then((refusal) => end(response, refusal))
        .catch(() => response.destroy());
    },
  );
  await listening(server, host, port);
  const { port: own } = server.address() as AddressInfo;
  const shownHost = host.includes(':') ? `[${host}]` : host;
  return { url: `http://${shownHost}:${own}${path}`, close: () => closeServer(server) };
}

interface WebhookResponse {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
}

async function answer(request: IncomingMessage, options: WebhookEndpointOptions): Promise<WebhookResponse> {
  const { path, secret, onUpdate, onRefused } = options;
  const refuse = (
    status: number,
    reason: string,
    headers: WebhookResponse['headers'] = {},
  ): WebhookResponse => {
    onRefused(status, reason);
    // Closing while a body still arrives can lose the response. Only a sender with the secret gets 413.
    return { status, headers: status === 413 ? headers : { ...headers, connection: 'close' } };
  };
  const { url = '', method, headers } = request;
  if (URL.parse(url, 'http://localhost')?.pathname !== path) return refuse(404, 'wrong path');
  if (method !== 'POST') return refuse(405, `wrong method ${method}`, { allow: 'POST' });
  const given = headers['x-telegram-bot-api-secret-token'];
  const { status, reason } = await acceptUpdate({
    secret,
    given: typeof given === 'string' ? given : undefined,
    length: headers['content-length'],
    body: request,
    onUpdate,
  });
  return status === 200 ? { status } : refuse(status, reason);
}

function end(response: ServerResponse, { status, headers = {} }: WebhookResponse): void {
  response.writeHead(status, { ...headers, 'content-length': '0' }).end();
}

function listening(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'is in use' : `cannot be used (${error.code})`;
      reject(
        new UsageError(
          `Cannot listen on port ${port} on ${host}: the port ${why}.`,
          'Choose another: --port NUMBER, or --port 0 for any free port.',
        ),
      );
    });
    server.listen(port, host, resolve);
  });
}

function closeServer(server: Server): Promise<void> {
  return new Promise((resolve) => {
    const late = setTimeout(() => server.closeAllConnections(), closingMs);
    server.close(() => {
      clearTimeout(late);
      resolve();
    });
    server.closeIdleConnections();
  });
}

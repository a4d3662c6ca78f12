import { AgentError } from '@cobbler/agent';
import { isObject } from '@cobbler/agent/provider';
import { capped } from './plain-text.ts';
import type { McpTransport } from './transport.ts';

/** Codes of JSON-RPC as the protocol uses them. */
const connectionClosed = -32_000;
const requestTimeout = -32_001;

/** Maximum characters of a server's last output. */
const maxWords = 600;

/** True if a server rejected a request because it no longer knows our session. */
export function isExpired(error: unknown): boolean {
  return isObject(error) && error['name'] !== 'McpError' && error['code'] === 404;
}

/** True if the connection to the server is lost. */
export function isClosed(error: unknown): boolean {
  return isObject(error) && error['code'] === connectionClosed;
}

/** The failure, as the part of a sentence after a colon. */
export function failureWords(
  error: unknown,
  transport: McpTransport | undefined,
  scrub: (text: string) => string,
  timeoutMs: number,
): string {
  const words = reasonOf(error, transport, timeoutMs);
  const said = transport?.lastWords() ?? '';
  const last = said === '' || !isClosed(error) ? '' : ` Its last output: ${tail(said)}`;
  return scrub(`${words}.${last}`);
}

function reasonOf(error: unknown, transport: McpTransport | undefined, timeoutMs: number): string {
  if (AgentError.is(error)) return error.message.replace(/\.$/, '');
  const { code, message, cause } = isObject(error) ? error : {};
  if (code === connectionClosed && transport !== undefined) return `it ${transport.ending()}`;
  if (code === requestTimeout) return `it did not respond within ${timeoutMs / 1000} s`;
  const text = capped(String(message ?? error).replace(/^MCP error -?\d+: /, ''), maxWords).replace(
    /\.$/,
    '',
  );
  if (typeof code === 'number' && code >= 400 && code < 600) return `it responded with HTTP ${code}`;
  if (isObject(cause)) return `it cannot be reached (${String(cause['code'] ?? cause['message'])})`;
  return typeof code === 'number' ? `it rejected the request (${code}): ${text}` : text;
}

function tail(text: string): string {
  const lines = text
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^\s+at /.test(line))
    .slice(-8)
    .join('\n');
  return lines.length <= maxWords ? lines : `…${lines.slice(-maxWords)}`;
}

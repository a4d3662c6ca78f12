import type { Runtime } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { McpServerConfig } from '@cobbler/agent/node';
import { isObject } from '@cobbler/agent/provider';
import { backoff } from '@cobbler/agent/values';
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import type { Progress } from '@modelcontextprotocol/sdk/types.js';
import { ResultSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { truncate } from './plain-text.ts';
import type { McpTransport } from './transport.ts';
import { maxMessageBytes } from './transport.ts';

const defaultConnectMs = 30_000;
const defaultCallMs = 120_000;

/** Maximum number of pages of one list; a server with more pages probably repeats them. */
const maxPages = 50;

/** Maximum number of entries that are read from a list. */
const maxEntries = 1_000;

/** The entries of a server's list, not validated, and whether it has more than were read. */
export interface ToolList {
  readonly entries: readonly unknown[];
  readonly isCut: boolean;
}

/** Delay before a restart after the second consecutive failure, in milliseconds; it grows with each failure. */
const firstPauseMs = 500;
const maxPauseMs = 30_000;

/** Maximum delay that a call waits for, in milliseconds; with a longer one it fails with an error that names the delay. */
const maxWaitMs = 2_000;

/** Dependencies of a connection. */
export interface ConnectionParts {
  readonly name: string;
  readonly config: McpServerConfig;
  /** Creates a new transport to the server. @throws AgentError for an invalid configuration. */
  readonly open: () => McpTransport;
  readonly redact: (text: string) => string;
  readonly runtime: Pick<Runtime, 'monotonic' | 'timer'>;
  readonly client: { readonly name: string; readonly version: string };
  /** Called when the server reports that its list has changed, or was restarted and may have a different list. */
  readonly onStale: () => void;
}

/** A client and its transport, which is open or was open earlier. */
interface Link {
  readonly client: Client;
  readonly transport: McpTransport;
  isOpen: boolean;
}

export interface McpCallOptions {
  readonly signal: AbortSignal;
  readonly onProgress: (progress: Progress) => void;
}

/**
 * A connection to one server. If the server ends, it is restarted when needed: immediately the first time, then after
 * a delay that grows until a call succeeds. An interrupted call is never repeated.
 */
export class McpConnection {
  readonly callMs: number;
  readonly #parts: ConnectionParts;
  readonly #links = new Set<Promise<unknown>>();
  #link: Link | undefined;
  #opening: Promise<Link> | undefined;
  /** Number of times the server has ended or failed to start since the last successful call. */
  #failures = 0;
  #notBefore = 0;
  #wasOpen = false;
  #isClosed = false;

  constructor(parts: ConnectionParts) {
    this.#parts = parts;
    this.callMs = parts.config.callTimeout ?? defaultCallMs;
  }

  /** The server's name and version; an empty string until they are known. */
  get identity(): string {
    const { name, version } = this.#link?.client.getServerVersion() ?? {};
    return [name, version].filter((word) => typeof word === 'string').join(' ');
  }

  /**
   * Returns the entries of the server's list: at most 50 pages, 1,000 entries and 16 MiB.
   * @throws AgentError `tool` that explains why there are none.
   */
  async list(): Promise<ToolList> {
    const link = await this.#ready();
    if (link.client.getServerCapabilities()?.tools === undefined) return { entries: [], isCut: false };
    const entries: unknown[] = [];
    let cursor: unknown;
    let bytes = 0;
    try {
      for (let page = 0; page < maxPages; page += 1) {
        const params = typeof cursor === 'string' ? { cursor } : {};
        const request = { method: 'tools/list', params };
        const result = await link.client.request(request, ResultSchema, { timeout: this.#connectMs });
        const tools = result['tools'];
        if (!Array.isArray(tools)) throw new Error('its tool list is invalid');
        bytes += JSON.stringify(tools).length;
        if (bytes > maxMessageBytes) break;
        entries.push(...tools.slice(0, maxEntries + 1));
        if (entries.length > maxEntries) break;
        const { nextCursor } = result;
        if (nextCursor === undefined || nextCursor === cursor) return { entries, isCut: false };
        cursor = nextCursor;
      }
    } catch (error) {
      throw this.#failure('', error, link, this.#connectMs);
    }
    return { entries: entries.slice(0, maxEntries), isCut: true };
  }

  /** Makes one call. @throws AgentError `tool`, or `aborted`, that describes the known outcome. */
  async call(
    tool: string,
    args: Readonly<Record<string, unknown>>,
    callOptions: McpCallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const link = await this.#ready(callOptions.signal);
    try {
      return await this.#request(link, tool, args, callOptions);
    } catch (error) {
      if (!isExpired(error)) throw this.#failure(unknownOutcome(error), error, link, this.callMs);
    }
    // The server rejected the call without executing it, so it can be repeated.
    await this.#leave(link);
    const again = await this.#ready(callOptions.signal);
    try {
      return await this.#request(again, tool, args, callOptions);
    } catch (error) {
      throw this.#failure(unknownOutcome(error), error, again, this.callMs);
    }
  }

  /** Resolves when the server and everything it started have ended. */
  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#opening?.catch(() => undefined);
    if (this.#link !== undefined) void this.#leave(this.#link);
    await Promise.all(this.#links);
  }

  get #connectMs(): number {
    return this.#parts.config.connectTimeout ?? defaultConnectMs;
  }

  async #request(
    { client }: Link,
    name: string,
    args: Readonly<Record<string, unknown>>,
    { signal, onProgress }: McpCallOptions,
  ): Promise<Readonly<Record<string, unknown>>> {
    const request = { method: 'tools/call', params: { name, arguments: args } };
    const options = { signal, timeout: this.callMs, onprogress: onProgress };
    const result = await client.request(request, ResultSchema, options);
    this.#failures = 0;
    return result;
  }

  /** Returns the open link to the server, or opens a new one. */
  async #ready(signal?: AbortSignal): Promise<Link> {
    if (this.#isClosed) throw mcpError(`${this.#title} is closed`);
    if (this.#link?.isOpen === true) return this.#link;
    this.#opening ??= this.#begin().finally(() => {
      this.#opening = undefined;
    });
    return await (signal === undefined ? this.#opening : rejectOnAbort(this.#opening, signal));
  }

  async #begin(): Promise<Link> {
    const { runtime, onStale } = this.#parts;
    const pause = this.#notBefore - runtime.monotonic();
    if (pause > maxWaitMs) {
      const seconds = Math.ceil(pause / 1000);
      throw mcpError(
        `${this.#title} has failed ${this.#failures} times in a row and will not be restarted for ${seconds} s. The call was not made.`,
      );
    }
    if (pause > 0) await new Promise<void>((resolve) => void runtime.timer(pause, resolve));
    const link = await this.#connect();
    if (this.#wasOpen) onStale();
    this.#wasOpen = true;
    return link;
  }

  async #connect(): Promise<Link> {
    const { open, client: identity, onStale } = this.#parts;
    let link: Link | undefined;
    try {
      const transport = open();
      const client = new Client(identity);
      const opened: Link = { client, transport, isOpen: true };
      link = opened;
      client.onclose = () => {
        if (opened.isOpen && this.#link === opened) this.#noteEnd();
        opened.isOpen = false;
      };
      client.setNotificationHandler(ToolListChangedNotificationSchema, () => onStale());
      await client.connect(transport, { timeout: this.#connectMs });
      // The server may have ended in the meantime, or this connection was closed.
      if (!opened.isOpen) throw Object.assign(new Error('closed'), { code: -32_000 });
      this.#link = opened;
      return opened;
    } catch (error) {
      this.#noteEnd();
      if (link !== undefined) await this.#leave(link);
      throw this.#failure('', error, link, this.#connectMs, 'is not ready');
    }
  }

  #noteEnd(): void {
    this.#failures += 1;
    const pause =
      this.#failures < 2 ? 0 : backoff({ baseMs: firstPauseMs, maxMs: maxPauseMs }, this.#failures - 2);
    this.#notBefore = this.#parts.runtime.monotonic() + pause;
  }

  /** Closes a link. Never rejects. */
  async #leave(link: Link): Promise<void> {
    link.isOpen = false;
    const leaving = link.transport.close().catch(() => undefined);
    this.#links.add(leaving);
    await leaving;
    this.#links.delete(leaving);
  }

  get #title(): string {
    return `The MCP server ${this.#parts.name}`;
  }

  #failure(
    after: string,
    error: unknown,
    link: Link | undefined,
    timeoutMs: number,
    verb = 'failed',
  ): AgentError {
    if (AgentError.is(error) && error.kind === 'aborted') return error;
    const words = failureWords(error, link?.transport, this.#parts.redact, timeoutMs);
    return mcpError(`${this.#title} ${verb}: ${words}${after}`);
  }
}

/** Returns a note that the effect of a call is unknown, unless the server responded with an error, which settles the call. */
function unknownOutcome(error: unknown): string {
  const code = isObject(error) ? error['code'] : undefined;
  const isAnswer = typeof code === 'number' && code !== -32_000 && code !== -32_001;
  return isAnswer ? '' : ' It is unknown whether the call took effect.';
}

function mcpError(message: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'mcp', message });
}

function rejectOnAbort<Value>(pending: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(AgentError.from(signal.reason, 'aborted'));
    if (signal.aborted) return onAbort();
    signal.addEventListener('abort', onAbort, { once: true });
    pending
      .then(resolve, reject)
      .finally(() => signal.removeEventListener('abort', onAbort))
      .catch(() => undefined);
  });
}

/** JSON-RPC error codes of the protocol. */
const connectionClosed = -32_000;
const requestTimeout = -32_001;

/** Maximum number of characters of a server's last output in an error. */
const maxWords = 600;

/** Returns true if a server rejected a request because it no longer knows the session. */
function isExpired(error: unknown): boolean {
  return isObject(error) && error['name'] !== 'McpError' && error['code'] === 404;
}

/** Returns true if the connection to the server is lost. */
function isClosed(error: unknown): boolean {
  return isObject(error) && error['code'] === connectionClosed;
}

/** Describes the failure as text that follows a colon. */
function failureWords(
  error: unknown,
  transport: McpTransport | undefined,
  redact: (text: string) => string,
  timeoutMs: number,
): string {
  const words = reasonOf(error, transport, timeoutMs);
  const lastOutput = transport?.lastWords() ?? '';
  const last = lastOutput === '' || !isClosed(error) ? '' : ` Its last output: ${tail(lastOutput)}`;
  return redact(`${words}.${last}`);
}

function reasonOf(error: unknown, transport: McpTransport | undefined, timeoutMs: number): string {
  if (AgentError.is(error)) return error.message.replace(/\.$/, '');
  const { code, message, cause } = isObject(error) ? error : {};
  if (code === connectionClosed && transport !== undefined) return `it ${transport.ending()}`;
  if (code === requestTimeout) return `it did not respond within ${timeoutMs / 1000} s`;
  const text = truncate(String(message ?? error).replace(/^MCP error -?\d+: /, ''), maxWords).replace(
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

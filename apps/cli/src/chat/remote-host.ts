import type { Event, SessionInfo, Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { Harness } from '@cobbler/agent/harness';
import { connectHarness } from '@cobbler/agent/remote';
import { defined } from '@cobbler/agent/values';
import { agentFace } from '../agents/agents.ts';
import { ownTools } from '../config/choose-tools.ts';
import { shortId } from '../session/find-session.ts';
import type { ListedSession } from '../session/session-lines.ts';
import { UndoHistory } from '../session/undo-history.ts';
import type { Io } from '../terminal/io.ts';
import { ownName } from '../terminal/program-name.ts';
import type { ChatHost, ChatListener, ChatModel } from './host.ts';

/** The address of a server and the user's access. */
export interface RemotePlan {
  readonly io: Io;
  readonly url: string;
  readonly token: string;
  /** The directory for attached files, on this machine. */
  readonly folder: string;
  /** True if the server ends with the chat. */
  readonly isTemporary?: boolean;
}

/** Conversations on a server, which supplies model, tools, files and permissions. */
export class RemoteHost implements ChatHost {
  readonly #plan: RemotePlan;
  readonly undo: UndoHistory;
  #model = "the server's model";
  #known: readonly Tool[] | undefined;
  #onNotice: (line: string) => void = () => undefined;

  constructor(plan: RemotePlan) {
    this.#plan = plan;
    this.undo = new UndoHistory(plan.folder, undefined);
  }

  get header(): readonly string[] {
    return ['cobbler', `${this.#plan.io.env['TERM'] === 'dumb' ? '' : '● '}${this.place}`];
  }

  get folder(): string {
    return this.#plan.folder;
  }

  get place(): string {
    return new URL(this.#plan.url).host;
  }

  get model(): ChatModel {
    return { name: this.#model };
  }

  readonly permissionWord = "the server's rules";

  /** The limits of the server are unknown here. */
  readonly limits: ChatHost['limits'] = { turns: 0 };

  get failure(): ChatHost['failure'] {
    return { host: this.place, model: this.#model, provider: 'server', keySource: 'the given token' };
  }

  get known(): readonly Tool[] {
    this.#known ??= ownTools({ root: this.folder, sandbox: 'off' }, undefined, agentFace);
    return this.#known;
  }

  open(sessionId: string | undefined, listener: ChatListener): Harness {
    const { url, token } = this.#plan;
    this.#onNotice = listener.onNotice;
    return connectHarness({
      url,
      token,
      handler: {
        onEvent: (event) => {
          if (event.type === 'assistant') this.#model = event.model;
          listener.handler.onEvent?.(event);
        },
      },
      onLost: (error) => listener.onLost(error.message),
      onBack: listener.onBack,
      onRefused: (approvalId, error) => listener.onRefused?.(approvalId, error.message),
      ...defined({ sessionId, onUnread: listener.onUnread }),
    });
  }

  adopt(): void {}

  /** Shows a line in the chat. */
  tell(line: string): void {
    this.#onNotice(line);
  }

  /** Reads the stream of events up to the last one that existed when reading started. */
  async past(sessionId: string): Promise<readonly Event[]> {
    const stop = new AbortController();
    const path = `/v1/sessions/${encodeURIComponent(sessionId)}/events?after=0&deltas=false`;
    const response = await this.#ask(path, stop.signal);
    if (response.status === 404) return [];
    const events: Event[] = [];
    let count = 0;
    try {
      for await (const data of framesOf(response)) {
        if (data['type'] === 'hello') count = Number(data['events'] ?? 0);
        else if (typeof data['seq'] === 'number') events.push(data as unknown as Event);
        if (events.length >= count) break;
      }
    } finally {
      stop.abort();
    }
    return events;
  }

  async sessions(): Promise<readonly ListedSession[]> {
    const response = await this.#ask('/v1/sessions?limit=100');
    const { items = [] } = (await response.json()) as { items?: readonly SessionInfo[] };
    return items.map((info) => ({ info }));
  }

  wayBack(sessionId: string): string | undefined {
    const { io, url, isTemporary = false } = this.#plan;
    if (isTemporary) return undefined;
    return `${ownName(io.env)} chat --connect ${url} -s ${shortId(sessionId)}`;
  }

  async close(): Promise<void> {}

  async #ask(path: string, signal?: AbortSignal): Promise<Response> {
    const { url, token } = this.#plan;
    const headers = { authorization: `Bearer ${token}` };
    let response: Response;
    try {
      response = await fetch(new URL(path, url), {
        headers,
        redirect: 'error',
        ...defined({ signal }),
      });
    } catch {
      const message = `Cannot reach the server at ${this.place}.`;
      throw new AgentError({ kind: 'network', code: 'unreachable', message });
    }
    if (response.ok || response.status === 404) return response;
    const isRefused = response.status === 401 || response.status === 403;
    throw new AgentError({
      kind: isRefused ? 'auth' : 'agent',
      code: isRefused ? 'unauthorized' : 'foreign_answer',
      message: isRefused
        ? `The server at ${this.place} rejected the token. The owner token follows #token= in the output of cobbler serve.`
        : `The server at ${this.place} responded with status ${response.status}.`,
    });
  }
}

/** Yields the JSON of each server-sent event. */
async function* framesOf(response: Response): AsyncGenerator<Record<string, unknown>, void, undefined> {
  if (response.body === null) return;
  const decoder = new TextDecoder();
  let held = '';
  for await (const chunk of response.body) {
    const frames = (held + decoder.decode(chunk, { stream: true })).split('\n\n');
    held = frames.pop() ?? '';
    for (const frame of frames) {
      const data = frame.split('\n').flatMap((line) => (line.startsWith('data:') ? [line.slice(5)] : []));
      if (data.length > 0) yield JSON.parse(data.join('\n')) as Record<string, unknown>;
    }
  }
}

import type { ApprovalDecision, SessionInfo, SessionStatus, UserPart } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';

/** A session in the server's list. */
export interface SessionEntry extends Omit<SessionInfo, 'status' | 'createdAt' | 'updatedAt'> {
  readonly status: SessionStatus | 'new';
  readonly createdAt?: string;
  readonly updatedAt?: string;
  /** The active run. */
  readonly runId?: string;
  readonly folder?: string;
  readonly next?: NextModel;
  /** True in plan mode. */
  readonly plan?: boolean;
}

/** The model of a session's next run. */
export interface NextModel {
  readonly model: string;
  /** Absent: the default of the model. */
  readonly effort?: string;
  readonly efforts: readonly string[];
}

/** What a user chooses for the next run: a model, an effort, where null is the default one, or plan mode. */
export interface RunChoice {
  readonly model?: string;
  readonly effort?: string | null;
  readonly plan?: boolean;
}

/** A command that was started in the background. */
export interface BackgroundCommand {
  readonly id: string;
  readonly command: string;
  /** `running`, or how it ended. */
  readonly status: string;
  readonly durationMs: number;
  /** Absent in lists. */
  readonly output?: string;
}

/** An undo or a redo that is possible. */
export interface UndoStep {
  /** The message that an undo removes. */
  readonly seq?: number;
  readonly hash: string;
  readonly files: readonly {
    readonly path: string;
    readonly change: 'restore' | 'delete';
    /** True if another program has changed the file since. */
    readonly isChanged: boolean;
  }[];
}

export type UndoKind = 'undo' | 'redo';

/** A model that users can choose. */
export interface ModelOption {
  readonly name: string;
  /** Its price and other facts. */
  readonly text?: string;
}

/** What new sessions work with. */
export interface Setup {
  readonly folder?: string;
  /** What the agent may do without asking, in words. */
  readonly permission?: string;
  readonly models: readonly ModelOption[];
  /** Absent if users cannot choose the model. */
  readonly next?: NextModel;
  /** True if there are undo, plan mode and commands in the background. */
  readonly local?: boolean;
}

/** A message that a search has found. */
export interface FoundMessage {
  readonly sessionId: string;
  readonly title: string;
  readonly seq: number;
  /** The pieces of the snippet in order; every second one is a match. */
  readonly snippet: readonly string[];
}

/** A page of the server's list. */
export interface SessionListing {
  readonly items: readonly SessionEntry[];
  readonly next?: string;
  /** Changes with the store. Absent if the server cannot tell. */
  readonly version?: string;
}

/** The reason why a request failed. */
export class ApiError extends Error {
  /** 0 if the server was not reached. */
  readonly status: number;
  readonly code: string;

  constructor(status: number, code: string, message: string) {
    super(message);
    this.status = status;
    this.code = code;
  }

  /** True if retrying the same request may succeed. */
  get passes(): boolean {
    return this.status === 0 || this.status >= 500;
  }
}

/** A prompt for the model. */
export type MessageContent = string | readonly UserPart[];

/** Sends a request for JSON; an empty response becomes an empty object. @throws ApiError */
export async function ask<Answer>(
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE',
  path: string,
  body?: unknown,
  headers: Readonly<Record<string, string>> = {},
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await reach(path, {
    method,
    ...defined({ signal }),
    headers: { ...headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
    ...defined({ body: body === undefined ? undefined : JSON.stringify(body) }),
  });
  const text = await response.text().catch(() => '');
  if (!response.ok) throw problemOf(response.status, text);
  return (text === '' ? {} : JSON.parse(text)) as Answer;
}

interface PageRequest extends RequestInit {
  readonly headers?: Readonly<Record<string, string>>;
}

/** Sends a request. @throws ApiError with status 0 */
export async function reach(path: string, init: PageRequest): Promise<Response> {
  const headers = { ...pageKeyHeader(), ...init.headers };
  const common = { credentials: 'same-origin', redirect: 'error', cache: 'no-store' } as const;
  try {
    return await fetch(path, { ...common, ...init, headers });
  } catch {
    throw new ApiError(0, 'unreachable', 'Cannot reach the server. Is `cobbler serve` still running?');
  }
}

/** Parses the body of an error response. */
export function problemOf(status: number, text: string): ApiError {
  try {
    const { code, detail } = JSON.parse(text) as { code?: string; detail?: string };
    return new ApiError(status, code ?? '', detail ?? `The server responded with status ${status}.`);
  } catch {
    return new ApiError(status, '', `The server responded with status ${status}.`);
  }
}

/** A decision about an approval; `always` is the rule to save with it. */
type AnswerBody = ApprovalDecision & { readonly hash: string; readonly always?: string };

const of = (sessionId: string) => `/v1/sessions/${encodeURIComponent(sessionId)}`;

/** All requests of the page except for events. All throw {@link ApiError}. */
export const api = {
  signIn: async (token: string): Promise<void> => {
    keepPageKey((await ask<{ readonly key: string }>('POST', '/v1/cookie', { token })).key);
  },
  list: (folder: string | undefined, cursor?: string): Promise<SessionListing> =>
    ask('GET', `/v1/sessions?${new URLSearchParams({ limit: '100', ...defined({ folder, cursor }) })}`),
  /** Resolves when the store has another version. */
  changed: (version: string, signal: AbortSignal): Promise<unknown> =>
    ask('GET', `/v1/sessions?${new URLSearchParams({ limit: '1', wait: version })}`, undefined, {}, signal),
  search: (
    words: string,
  ): Promise<{ readonly items: readonly FoundMessage[]; readonly isComplete: boolean }> =>
    ask('GET', `/v1/search?${new URLSearchParams({ words })}`),
  folders: (): Promise<{ readonly items: readonly string[] }> => ask('GET', '/v1/folders'),
  rules: async (id: string, approvalId: string): Promise<readonly string[]> =>
    (await ask<{ rules?: readonly string[] }>('GET', `${of(id)}/approvals/${encodeURIComponent(approvalId)}`))
      .rules ?? [],
  setup: (): Promise<Setup> => ask('GET', '/v1/setup'),
  choose: (id: string, change: RunChoice): Promise<SessionEntry> => ask('PATCH', of(id), change),
  session: (id: string): Promise<SessionEntry> => ask('GET', of(id)),
  create: (id: string, folder?: string): Promise<SessionEntry> =>
    ask('POST', '/v1/sessions', { id, ...defined({ folder }) }),
  remove: (id: string): Promise<unknown> => ask('DELETE', of(id)),
  rename: (id: string, title: string): Promise<SessionEntry> => ask('PATCH', of(id), { title }),
  prompt: (id: string, content: MessageContent, key: string): Promise<unknown> =>
    ask('POST', `${of(id)}/prompt`, { content }, { 'idempotency-key': key }),
  steer: (id: string, content: MessageContent): Promise<unknown> =>
    ask('POST', `${of(id)}/steer`, { content }),
  cancel: (id: string): Promise<unknown> => ask('POST', `${of(id)}/cancel`, {}),
  resume: (id: string): Promise<unknown> => ask('POST', `${of(id)}/resume`, {}),
  fork: (id: string, upToSeq: number): Promise<SessionEntry> => ask('POST', `${of(id)}/fork`, { upToSeq }),
  undoSteps: (id: string): Promise<Partial<Record<UndoKind, UndoStep>>> => ask('GET', `${of(id)}/undo`),
  undo: (id: string, kind: UndoKind, hash: string): Promise<{ readonly id: string }> =>
    ask('POST', `${of(id)}/${kind}`, { hash }),
  commands: (id: string): Promise<{ readonly items: readonly BackgroundCommand[] }> =>
    ask('GET', `${of(id)}/commands`),
  command: (id: string, commandId: string): Promise<BackgroundCommand> =>
    ask('GET', `${of(id)}/commands/${encodeURIComponent(commandId)}`),
  stopCommand: (id: string, commandId: string): Promise<unknown> =>
    ask('POST', `${of(id)}/commands/${encodeURIComponent(commandId)}/stop`, {}),
  answer: (id: string, approvalId: string, answer: AnswerBody): Promise<unknown> =>
    ask('POST', `${of(id)}/approvals/${encodeURIComponent(approvalId)}`, answer),
};

/** The name of the key in this origin's storage, and of the request header. */
const name = 'cobbler-page';

/** Stores the key of the cookie for this origin: browsers send the cookie to every port of the host, but the key to none. */
function keepPageKey(key: string): void {
  localStorage.setItem(name, key);
}

/** Returns the headers for every request of the page; none before sign-in. */
function pageKeyHeader(): Readonly<Record<string, string>> {
  const key = localStorage.getItem(name);
  return key === null ? {} : { [name]: key };
}

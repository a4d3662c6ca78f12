import type { ChildProcess } from 'node:child_process';
import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { Readable, Writable } from 'node:stream';
import type {
  ClientContext,
  InitializeResponse,
  RequestPermissionRequest,
  RequestPermissionResponse,
  SessionUpdate,
  ToolCallContent,
} from '@agentclientprotocol/sdk';
import { client, ndJsonStream, PROTOCOL_VERSION } from '@agentclientprotocol/sdk';
import type { Event } from '@cobbler/agent';
import { sqliteStore } from '@cobbler/agent/node';
import { onTestFinished } from 'vitest';
import { bareEnvironment, command } from '../support/binary.ts';

/** A tool call as the editor sees it. */
export interface SeenCall {
  readonly name: unknown;
  readonly input: unknown;
  readonly status: unknown;
  readonly result: string;
}

/** A conversation as an editor shows it. */
export interface Seen {
  readonly user: string[];
  readonly answers: string[];
  readonly calls: SeenCall[];
}

/** The official ACP client, connected to the real command. */
export interface Editor {
  readonly agent: ClientContext;
  readonly hello: InitializeResponse;
  readonly asked: RequestPermissionRequest[];
  updates(sessionId: string): SessionUpdate[];
  /** Waits until the editor receives a matching update. */
  until(sessionId: string, found: (update: SessionUpdate) => boolean): Promise<void>;
  /** Closes the connection and waits for the command to exit. */
  leave(): Promise<Left>;
}

/** The exit code and error output of the command. */
export interface Left {
  readonly code: number | null;
  readonly stderr: string;
}

export interface EditorOptions {
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  readonly args?: readonly string[];
  /** Returns the outcome of a permission request. Default: `deny` is selected. */
  readonly choose?: (request: RequestPermissionRequest) => Promise<RequestPermissionResponse['outcome']>;
}

export async function startEditor({ env, cwd, args = [], choose }: EditorOptions): Promise<Editor> {
  const [program = '', ...flags] = command;
  const child: ChildProcess = spawn(program, [...flags, 'acp', ...args], {
    cwd,
    env: bareEnvironment(env),
    stdio: ['pipe', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) throw new Error('the command has no pipes');
  const all: { sessionId: string; update: SessionUpdate }[] = [];
  const asked: RequestPermissionRequest[] = [];
  const watchers = new Set<() => void>();
  const app = client({ name: 'editor' })
    .onRequest('session/request_permission', async ({ params }) => {
      asked.push(params);
      const outcome = (await choose?.(params)) ?? { outcome: 'selected', optionId: 'deny' };
      return { outcome };
    })
    .onNotification('session/update', ({ params }) => {
      all.push(params);
      for (const look of watchers) look();
    });
  const input = Readable.toWeb(stdout) as ReadableStream<Uint8Array>;
  const { agent } = app.connect(ndJsonStream(Writable.toWeb(stdin), input));
  let stderr = '';
  child.stderr?.setEncoding('utf8').on('data', (text: string) => {
    stderr += text;
  });
  const end = new Promise<Left>((resolve) => {
    child.once('close', (code) => resolve({ code, stderr }));
  });
  const hello = await agent.request('initialize', { protocolVersion: PROTOCOL_VERSION });
  const updates = (sessionId: string) =>
    all.filter((one) => one.sessionId === sessionId).map(({ update }) => update);
  return {
    agent,
    hello,
    asked,
    updates,
    until: (sessionId, found) =>
      new Promise((resolve) => {
        const look = () => {
          if (!updates(sessionId).some(found)) return;
          watchers.delete(look);
          resolve();
        };
        watchers.add(look);
        look();
      }),
    leave: () => {
      stdin.end();
      return end;
    },
  };
}

/** Combines updates as the protocol specifies: chunks by message, calls by their latest fields. */
export function seenOf(updates: readonly SessionUpdate[]): Seen {
  const user: string[] = [];
  const answers = new Map<unknown, string>();
  const calls = new Map<string, Record<string, unknown>>();
  for (const update of updates) {
    if (update.sessionUpdate === 'user_message_chunk') {
      if (update.content.type === 'text') user.push(update.content.text);
    } else if (update.sessionUpdate === 'agent_message_chunk') {
      const { content, messageId } = update;
      const text = content.type === 'text' ? content.text : '';
      answers.set(messageId, (answers.get(messageId) ?? '') + text);
    } else if (update.sessionUpdate === 'tool_call' || update.sessionUpdate === 'tool_call_update') {
      calls.set(update.toolCallId, { ...calls.get(update.toolCallId), ...update });
    }
  }
  const seen = [...calls.values()].map(({ name, rawInput, status, content, rawOutput }) => ({
    name,
    input: rawInput,
    status,
    result: typeof rawOutput === 'string' ? rawOutput : textIn((content ?? []) as ToolCallContent[]),
  }));
  return { user, answers: [...answers.values()], calls: seen };
}

/** Returns the same conversation from the stored log. */
export async function keptOf(home: string, sessionId: string): Promise<Seen> {
  const store = sqliteStore(join(home, 'sessions.db'));
  try {
    return loggedIn(await store.read(sessionId));
  } finally {
    await store.close();
  }
}

function loggedIn(events: readonly Event[]): Seen {
  const user: string[] = [];
  const answers: string[] = [];
  const calls: SeenCall[] = [];
  const results = events.filter((event) => event.type === 'tool_result');
  let turn = 0;
  for (const event of events) {
    if (event.type === 'user')
      user.push(...event.content.flatMap((part) => (part.type === 'text' ? [part.text] : [])));
    if (event.type !== 'assistant') continue;
    turn += 1;
    const text = event.content.map((part) => (part.type === 'text' ? part.text : '')).join('');
    if (text !== '') answers.push(text);
    for (const [index, call] of event.content.filter((part) => part.type === 'tool_call').entries()) {
      const result = results.find((one) => one.turn === turn && one.index === index);
      calls.push({
        name: call.toolName,
        input: call.arguments,
        status: result === undefined || result.isError ? 'failed' : 'completed',
        result: (result?.content ?? []).map((part) => (part.type === 'text' ? part.text : '')).join(''),
      });
    }
  }
  return { user, answers, calls };
}

function textIn(content: readonly ToolCallContent[]): string {
  return content
    .map((one) => (one.type === 'content' && one.content.type === 'text' ? one.content.text : ''))
    .join('');
}

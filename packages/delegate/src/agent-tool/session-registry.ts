import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import type { Spending } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { Totals } from '../events/backend-event.ts';
import { fieldsOf, listOf, numberOf, textOf } from '../events/fields.ts';

/** The status of a session. */
export type SessionState = 'running' | 'completed' | 'failed' | 'cancelled' | 'timeout';

/** A stored session of the agent tool: the data to continue it in another process. */
export interface RegisteredSession {
  readonly id: string;
  readonly backend: string;
  readonly workingDir: string;
  readonly state: SessionState;
  /** The last result, or why there is none. */
  readonly result: string;
  readonly cliSessionId?: string;
  readonly systemPrompt?: string;
  readonly maxTurns?: number;
  readonly totals: Totals;
  /** The cost and tokens of all tasks. A task that is running, or whose end is unknown, counts with its limits. */
  readonly spent: { readonly usd: number; readonly tokens: number };
  /** Id of the process that is running its task. */
  readonly owner: number;
  /** The first tool that returned what other people wrote. */
  readonly untrusted?: string;
}

/**
 * Stores sessions in a file. The file is read again before each change, so that sessions added by another process are
 * kept. Without a file, sessions last as long as the registry. If the file cannot be written, only later processes
 * lose the sessions.
 */
export class SessionRegistry {
  readonly #path: string | undefined;
  #sessions: Map<string, RegisteredSession> = new Map();
  #spendings: readonly unknown[] = [];
  #last = 0;

  constructor(path: string | undefined) {
    this.#path = path;
    this.#read();
  }

  all(): RegisteredSession[] {
    return [...this.#sessions.values()];
  }

  get(id: string): RegisteredSession | undefined {
    return this.#sessions.get(id);
  }

  /** Returns an id that no session has ever had. */
  nextId(): string {
    this.#read();
    this.#last += 1;
    this.#write();
    return `as-${this.#last}`;
  }

  put(session: RegisteredSession): void {
    this.#read();
    this.#sessions.set(session.id, session);
    this.#write();
  }

  delete(id: string): void {
    this.#read();
    this.#sessions.delete(id);
    this.#write();
  }

  /** Keeps what a task in the background has cost, until a call can record it. */
  keepSpending(spending: Spending): void {
    this.#read();
    this.#spendings = [...this.#spendings, spending];
    this.#write();
  }

  /** Returns what tasks in the background have cost since the last call, as it was stored. */
  takeSpendings(): readonly unknown[] {
    this.#read();
    const taken = this.#spendings;
    this.#spendings = [];
    if (taken.length > 0) this.#write();
    return taken;
  }

  #read(): void {
    if (this.#path === undefined) return;
    try {
      const stored = fieldsOf(JSON.parse(readFileSync(this.#path, 'utf8')));
      this.#last = Math.max(this.#last, numberOf(stored['last']) ?? 0);
      this.#spendings = listOf(stored['spendings']);
      this.#sessions = new Map(
        listOf(stored['sessions'])
          .flatMap(readSession)
          .map((one) => [one.id, one]),
      );
    } catch {
      // The file does not exist yet or cannot be read; the known sessions are kept.
    }
  }

  /** Writes a temporary file and renames it, so that no reader sees a partial file. */
  #write(): void {
    if (this.#path === undefined) return;
    try {
      mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
      const temporary = `${this.#path}.${process.pid}`;
      const stored = { last: this.#last, sessions: this.all(), spendings: this.#spendings };
      writeFileSync(temporary, JSON.stringify(stored, undefined, 1), { mode: 0o600 });
      renameSync(temporary, this.#path);
    } catch {
      // The sessions of this process continue without a store.
    }
  }
}

const states: readonly string[] = ['running', 'completed', 'failed', 'cancelled', 'timeout'];

function readSession(value: unknown): RegisteredSession[] {
  const fields = fieldsOf(value);
  const [id, backend, workingDir, state] = ['id', 'backend', 'workingDir', 'state'].map((key) =>
    textOf(fields[key]),
  );
  if (!id || !backend || !workingDir || !state || !states.includes(state)) return [];
  const text = (key: string) => (typeof fields[key] === 'string' ? { [key]: fields[key] } : {});
  const maxTurns = numberOf(fields['maxTurns']);
  const totals = fieldsOf(fields['totals']);
  const spent = fieldsOf(fields['spent']);
  const usd = numberOf(totals['usd']);
  const usage = fieldsOf(totals['usage']);
  const [inputTokens, outputTokens] = [numberOf(usage['inputTokens']), numberOf(usage['outputTokens'])];
  return [
    {
      id,
      backend,
      workingDir,
      state: state as SessionState,
      result: textOf(fields['result']),
      ...text('cliSessionId'),
      ...text('systemPrompt'),
      ...text('untrusted'),
      ...defined({ maxTurns }),
      totals: {
        ...defined({ usd }),
        ...(inputTokens !== undefined &&
          outputTokens !== undefined && { usage: { inputTokens, outputTokens } }),
      },
      spent: { usd: numberOf(spent['usd']) ?? 0, tokens: numberOf(spent['tokens']) ?? 0 },
      owner: numberOf(fields['owner']) ?? 0,
    },
  ];
}

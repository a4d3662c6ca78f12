import type { AgentError } from '@cobbler/agent';
import type { OnWrite } from '@cobbler/agent/node';
import type { Runner, Workflow } from '@cobbler/agent/runner';
import { sqliteRunner } from '@cobbler/agent/sqlite-runner';
import { defined } from '@cobbler/agent/values';
import type {
  Assistant,
  AssistantOptions,
  Embedder,
  EventStore,
  MessageStore,
  Outbox,
} from '@cobbler/assistant';
import { createAssistant, sqlChats, sqlEvents, sqlMessages, sqlOutbox } from '@cobbler/assistant';
import type { SqliteSql } from '@cobbler/assistant/sqlite';
import { sqliteMemory, sqliteSql } from '@cobbler/assistant/sqlite';
import type { Audit } from '../session/audit.ts';
import { noAudit, readsOnly } from '../session/audit.ts';
import type { AssistantHome } from './assistant-home.ts';

/** The options that follow from the files and the embedder. */
type OwnParts = 'messages' | 'chats' | 'outbox' | 'turns' | 'runner' | 'memory';

/** Options of an assistant on this machine, apart from its files. */
export interface AssistantParts extends Omit<AssistantOptions, OwnParts> {
  readonly embedder: Embedder;
  readonly timeZone: string;
  readonly keepDays: number;
  readonly report: (error: AgentError, where: string) => void;
  /** Wraps the workflow, to observe the outcome of each run. */
  readonly around?: (workflow: Workflow) => Workflow;
  /** Default: calls are not audited. */
  readonly audit?: Audit;
  /** Called before and after every database write, for tests that end the process at that point. */
  readonly onWrite?: OnWrite;
}

/** A running assistant and its stores. */
export interface OpenedAssistant {
  readonly assistant: Assistant;
  readonly runner: Runner;
  readonly messages: MessageStore;
  readonly outbox: Outbox;
  readonly turns: EventStore;
  /** Deletes finished data that is older than its retention period. */
  prune(): Promise<void>;
  /** Stops the assistant. Unfinished runs continue when it is opened again. */
  close(): Promise<void>;
}

const dayMs = 86_400_000;

/**
 * Opens an assistant on an open database, and immediately continues unfinished runs.
 * @throws AgentError that describes the problem with the run file.
 */
export function openAssistant(home: AssistantHome, sql: SqliteSql, parts: AssistantParts): OpenedAssistant {
  const { embedder, keepDays, around = (workflow) => workflow, onWrite, audit = noAudit, ...rest } = parts;
  const messages = sqlMessages(sql);
  const outbox = sqlOutbox(sql, { leaseMs: 0 });
  const turns = audit.watch(
    sqlEvents(sql),
    readsOnly(() => parts.tools ?? []),
  );
  const assistant = createAssistant({
    ...rest,
    messages,
    outbox,
    turns,
    chats: sqlChats(sql),
    memory: sqliteMemory({ sql, embedder }),
    runner: () => runner,
  });
  const runner = sqliteRunner({
    file: home.runs,
    workflow: around(assistant.workflow),
    retention: { maxAgeMs: keepDays * dayMs, maxRuns: 1_000_000 },
    ...defined({ onWrite }),
  });
  return {
    assistant,
    runner,
    messages,
    outbox,
    turns,
    async prune() {
      const before = Date.now() - keepDays * dayMs;
      await outbox.prune(before);
      await turns.pruneTurns(before);
    },
    async close() {
      await runner.close();
      await audit.close();
      sql.close();
    },
  };
}

/** Opens the database of an assistant. */
export function openChats(home: AssistantHome, onWrite?: OnWrite): SqliteSql {
  return sqliteSql({ file: home.chats, ...defined({ onWrite }) });
}

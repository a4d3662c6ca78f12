import type { Tool } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { BudgetClient } from '@cobbler/agent/budgets';
import { defined } from '@cobbler/agent/values';
import type { Assistant, MemoryIndex, Sql } from '@cobbler/assistant';
import {
  createAssistant,
  lexicalEmbedder,
  sqlChats,
  sqlEvents,
  sqlMessages,
  sqlOutbox,
} from '@cobbler/assistant';
import type { CloudflareRunner } from '@cobbler/assistant/cloudflare';
import {
  cloudflareRunner,
  d1Budgets,
  d1Memory,
  d1Sql,
  vectorizeMemory,
  workersAiEmbedder,
} from '@cobbler/assistant/cloudflare';
import { telegramApi, telegramChannel } from '@cobbler/assistant/telegram';
import { createAiSdk } from '@cobbler/provider-ai-sdk';
import { anthropicModel } from '@cobbler/provider-ai-sdk/anthropic';
import { claudePrice } from '@cobbler/provider-claude';
import { audited, auditIn } from './audit.ts';
import type { Env } from './env.ts';
import type { WorkerSettings } from './settings.ts';
import { settingsOf } from './settings.ts';

/** Additions of a deployment to the assistant. */
export interface Additions {
  /** Default: none. Tools with side effects need approval, by buttons. */
  readonly tools?: readonly Tool[];
}

/** The parts of the assistant, created from the bindings of a request. */
export interface WorkerParts {
  readonly settings: WorkerSettings;
  readonly assistant: Assistant;
  readonly runner: CloudflareRunner;
  readonly sql: Sql;
  readonly api: ReturnType<typeof telegramApi>;
  readonly outbox: ReturnType<typeof sqlOutbox>;
  readonly turns: ReturnType<typeof sqlEvents>;
  /** Settles what turns have reserved, and writes what the audit log must record. Call it before the Worker ends. */
  flush(): Promise<void>;
}

/** Creates the assistant from the bindings. @throws AgentError `invalid` if a setting is missing or wrong. */
export function partsOf(env: Env, { tools = [] }: Additions = {}): WorkerParts {
  const settings = settingsOf(env);
  const sql = d1Sql(env.DB);
  const runner = cloudflareRunner({ binding: env.TURNS, sql });
  const { TELEGRAM_API_ROOT: apiRoot = '' } = env;
  const api = telegramApi({ token: settings.token, ...(apiRoot !== '' && { apiRoot }) });
  const outbox = sqlOutbox(sql);
  const { auditKey } = settings;
  const audit = auditKey === undefined ? undefined : auditIn(sql, auditKey, reportAudit);
  const turns = audit === undefined ? sqlEvents(sql) : audited(sqlEvents(sql), audit, tools);
  const budgets = userBudgets(sql, settings);
  const assistant = createAssistant({
    agent: createAiSdk(anthropicModel({ env: textsOf(env) })),
    channel: telegramChannel({ token: settings.token, api }),
    messages: sqlMessages(sql),
    chats: sqlChats(sql),
    memory: memoryOf(env, sql),
    timeZone: settings.timeZone,
    outbox,
    turns,
    runner: () => runner,
    tools,
    report,
    pricing: (_provider, model, inputTokens) => claudePrice(model, inputTokens),
    ...defined({ budget: budgets?.ofUser }),
  });
  const flush = async () => {
    await audit?.flush();
    await budgets?.flush();
  };
  return { settings, assistant, runner, sql, api, outbox, turns, flush };
}

/** Writes an error to the worker's log. Errors of the channel and of the model contain no secrets. */
export function report(error: AgentError, where: string): void {
  const { kind, code, message } = error;
  console.error(
    JSON.stringify({ at: new Date(systemRuntime.now()).toISOString(), where, kind, code, message }),
  );
}

function reportAudit(message: string): void {
  report(new AgentError({ kind: 'agent', code: 'store', message }), 'audit log');
}

/** Returns the budgets of the users in D1; undefined if the settings limit no user. */
function userBudgets(sql: Sql, { userBudget, timeZone }: WorkerSettings) {
  if (userBudget === undefined) return undefined;
  const store = d1Budgets({ sql });
  const onAlert = (alert: object) =>
    console.warn(JSON.stringify({ message: 'a budget reached an alert threshold', ...alert }));
  const client = new BudgetClient({ store, onAlert });
  return {
    async ofUser(userId: string) {
      const name = `assistant:user:${userId}`;
      await store.define({ timeZone, ...userBudget, name });
      return await client.budget(name);
    },
    flush: () => client.flush(),
  };
}

function memoryOf({ AI: ai, VECTORIZE: index }: Env, sql: Sql): MemoryIndex {
  if (ai === undefined || index === undefined) return d1Memory({ sql, embedder: lexicalEmbedder() });
  return vectorizeMemory({ index, sql, embedder: workersAiEmbedder({ ai }) });
}

/** Returns the variables that the provider reads. */
function textsOf({
  ANTHROPIC_API_KEY,
  ANTHROPIC_MODEL,
  ANTHROPIC_BASE_URL,
}: Env): Record<string, string | undefined> {
  return { ANTHROPIC_API_KEY, ANTHROPIC_MODEL, ANTHROPIC_BASE_URL };
}

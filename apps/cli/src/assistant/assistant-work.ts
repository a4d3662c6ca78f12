import type { Agent } from '@cobbler/agent';
import { defined } from '@cobbler/agent/values';
import type { SqliteSql } from '@cobbler/assistant/sqlite';
import { agentFace } from '../agents/agents.ts';
import { withReaders } from '../agents/open-agents.ts';
import { recordChildren } from '../config/backend.ts';
import { assistantTools, chooseTools, toolsBeside } from '../config/choose-tools.ts';
import { workFolder } from '../config/directory.ts';
import { openMcp } from '../config/mcp-servers.ts';
import { sandboxIn } from '../config/sandbox.ts';
import { readSettings } from '../config/settings.ts';
import { Budgets } from '../run/budgets/budgets.ts';
import { openAudit } from '../session/audit.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import type { AssistantFlags } from './assistant-flags.ts';
import type { AssistantHome } from './assistant-home.ts';
import { lockHome } from './assistant-home.ts';
import { pricesOf } from './choose-agent.ts';
import { chooseEmbedder } from './choose-embedder.ts';
import type { AssistantParts } from './open-assistant.ts';
import { openChats } from './open-assistant.ts';

/** What an assistant has on every channel. */
export interface AssistantWork {
  readonly parts: Omit<AssistantParts, 'channel' | 'report'>;
  readonly sql: SqliteSql;
  /** How the memory is searched. */
  readonly words: string;
  /** Releases everything except the parts, which the assistant closes. */
  close(): Promise<void>;
}

/**
 * Opens what an assistant has on every channel: that of the options, or the instructions and tools of an agent.
 * @param report receives what fails later, and the place.
 * @throws UsageError for options that cannot work, and if another process uses the home.
 */
export async function openWork(
  flags: AssistantFlags,
  home: AssistantHome,
  { agent, isFree = false }: { readonly agent: Agent; readonly isFree?: boolean },
  report: (why: string, where: string) => void,
  io: Io,
): Promise<AssistantWork> {
  const { work, timeZone, keepDays } = flags;
  const { env, file } = await readSettings(io.env);
  const { embedder, words } = await chooseEmbedder(flags.embedder, flags.embedderFloor, env);
  const folder = workFolder(work.dir, io);
  const sandbox = await sandboxIn(folder, work, io);
  const audit = openAudit('assistant', file.values, io, (why) => report(why, 'audit'));
  const { agentFolder } = work;
  const ours = assistantTools({ root: folder, environment: io.env, sandbox });
  const own =
    agentFolder === undefined
      ? [...ours, agentFace]
      : [...toolsBeside(agentFolder, ours), ...agentFolder.options.tools];
  // Without an agent, no server of the configuration starts.
  const mcp = agentFolder && (await openMcp(work, file.values, folder, (why) => report(why, 'mcp'), io));
  const pricing = await pricesOf(io.env);
  const chosen = chooseTools([...own, ...(mcp?.tools() ?? [])], work.tools);
  const tools = withReaders(chosen, { agent, pricing, folder, audit, env: io.env });
  // Finds and ends commands that a killed assistant left running.
  if (tools.length > 0) await recordChildren(io.env);
  const budgets = new Budgets({
    env: io.env,
    values: file.values,
    report: (why) => report(why, 'budgets'),
    ...defined({ chosen: work.budget }),
  });
  const budget = isFree ? undefined : await budgets.ofUsers(timeZone);
  const sql = openChats(home);
  const unlock = lockHome(home);
  const close = async () => {
    await mcp?.close();
    await budgets.close();
    unlock?.();
  };
  if (unlock === undefined) {
    sql.close();
    await close();
    throw new UsageError(
      'The assistant for this home directory is already running.',
      'Stop it first, or set COBBLER_HOME to another directory.',
    );
  }
  audit.note({ kind: 'sandbox', sandbox: sandbox.kind });
  const persona = flags.persona ?? agentFolder?.instructions;
  const parts = {
    agent,
    audit,
    embedder,
    tools,
    timeZone,
    keepDays,
    pricing,
    ...defined({ budget, persona }),
  };
  return { parts, sql, words, close };
}

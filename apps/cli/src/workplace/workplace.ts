import type { Hook, Limits, Tool } from '@cobbler/agent';
import type { CommandDefinition } from '@cobbler/agent/definitions';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { BackgroundCommands } from '@cobbler/tools';
import { planTool } from '@cobbler/tools/planning';
import type { Agents } from '../agents/agents.ts';
import type { AgentContext } from '../agents/open-agents.ts';
import { openAgents } from '../agents/open-agents.ts';
import {
  checkRules,
  chooseTools,
  ownTools,
  pickTools,
  toolsBeside,
  workspaceOf,
} from '../config/choose-tools.ts';
import type { ContextPlan } from '../config/context-plan.ts';
import { contextPlan } from '../config/context-plan.ts';
import type { Instructions } from '../config/instructions.ts';
import { instructionsOf } from '../config/instructions.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import type { PermissionPlan } from '../config/permission-plan.ts';
import { permissionIn, webAccess } from '../config/permission-plan.ts';
import type { RunFlags } from '../config/run-flags.ts';
import { allowedHosts, sandboxIn } from '../config/sandbox.ts';
import type { Settings } from '../config/settings.ts';
import { definitionsIn, hooksFor } from '../project/definitions.ts';
import type { Io } from '../terminal/io.ts';
import { limitsOf, systemOf } from './settings-parts.ts';

/** The surroundings of every conversation in a directory, where a user can be asked. */
export interface Workplace extends PermissionPlan {
  /** Returns the tools of a new conversation: those of MCP servers can change. */
  tools(): readonly Tool[];
  readonly context: ContextPlan;
  readonly instructions: readonly Instructions[];
  readonly hooks: readonly Hook[];
  /** The prompts with names. */
  readonly commands: readonly CommandDefinition[];
  readonly sandbox: Sandbox['kind'];
  readonly system: readonly string[];
  readonly background: BackgroundCommands;
  readonly agents: Agents | undefined;
  readonly limits: Limits & { readonly turns: number };
  /** Ends what the tools have started in a session that is deleted: another user can then use its id. */
  forget(sessionId: string): Promise<void>;
  /** Ends what the tools have started. */
  close(): Promise<void>;
}

/** What a workplace and its conversations share. */
export interface WorkplaceParts extends Pick<AgentContext, 'model' | 'audit' | 'asks'> {
  readonly mcp: McpTools;
  /** True to ask the user about the project's skills, in a terminal. Default false. */
  readonly asksTrust?: boolean;
}

/** @throws UsageError, or AgentError `invalid`, for options that cannot work, such as rules for unknown tools. */
export async function openWorkplace(
  flags: RunFlags,
  folder: string,
  settings: Settings,
  { mcp, asksTrust = false, ...shared }: WorkplaceParts,
  io: Io,
): Promise<Workplace> {
  const mayUse = flags.tools === undefined || flags.tools.length > 0;
  const context = contextPlan(flags, settings.file.values, mayUse);
  const sandbox = await sandboxIn(folder, flags, io);
  const plan = await permissionIn(folder, flags, true, io.env, mcp.digestOf);
  const permission = () => plan.permission;
  const limits = limitsOf(flags, settings);
  const found = await definitionsIn(folder, flags, io, asksTrust);
  const about = { folder, limits, context, permission, system: (): readonly string[] => system };
  const hooks = await hooksFor(found, folder, flags, io);
  const agents = openAgents(flags, { ...shared, ...about, hooks, definitions: found.agents }, io);
  const background = new BackgroundCommands();
  const workspace = workspaceOf(folder, flags, context, sandbox, background, io);
  const web = webAccess(await allowedHosts(flags, io.env), permission);
  const all = [
    ...ownTools(workspace, web, agents?.tool([])),
    planTool((session) => plan.permission.endPlan(session)),
  ];
  const own = [...toolsBeside(flags.agentFolder, all), ...found.tools];
  const tools = chooseTools([...own, ...mcp.tools()], flags.tools);
  checkRules(flags.allow, tools);
  const instructions = flags.contextFiles ? await instructionsOf(folder, io) : [];
  const system: readonly string[] = systemOf(flags, folder, tools, instructions, io);
  const current = () => pickTools([...own, ...mcp.tools()], flags.tools);
  return {
    ...plan,
    ...{ background, agents, context, hooks, instructions, commands: found.commands, system, limits },
    tools: () => agents?.over(current()) ?? current(),
    sandbox: sandbox.kind,
    forget: async (sessionId) => {
      await agents?.forget(sessionId);
      await background.forget(sessionId);
    },
    close: async () => {
      await agents?.close();
      await background.close();
    },
  };
}

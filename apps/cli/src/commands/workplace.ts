import type { Limits, Tool } from '@cobbler/agent';
import type { Sandbox } from '@cobbler/agent/sandbox';
import type { Agents } from '../agents/agents.ts';
import type { AgentContext } from '../agents/open-agents.ts';
import { openAgents } from '../agents/open-agents.ts';
import { checkRules, chooseTools, ownTools, pickTools, workspaceOf } from '../config/choose-tools.ts';
import type { ContextPlan } from '../config/context-plan.ts';
import { contextPlan } from '../config/context-plan.ts';
import type { Instructions } from '../config/instructions.ts';
import { instructionsOf } from '../config/instructions.ts';
import type { McpTools } from '../config/mcp-servers.ts';
import type { PermissionPlan } from '../config/permission-plan.ts';
import { permissionIn } from '../config/permission-plan.ts';
import type { RunFlags } from '../config/run-flags.ts';
import { sandboxIn } from '../config/sandbox.ts';
import type { Settings } from '../config/settings.ts';
import type { Io } from '../terminal/io.ts';
import { limitsOf, systemOf } from './run.ts';

/** The surroundings of every conversation in a directory, where a user can be asked. */
export interface Workplace extends PermissionPlan {
  /** Returns the tools of a new conversation: those of MCP servers can change. */
  tools(): readonly Tool[];
  readonly agents: Agents | undefined;
  readonly context: ContextPlan;
  readonly instructions: Instructions | undefined;
  readonly sandbox: Sandbox['kind'];
  readonly system: readonly string[];
  readonly limits: Limits & { readonly turns: number };
}

/** What a workplace and its conversations share. */
export interface WorkplaceParts extends Pick<AgentContext, 'model' | 'audit' | 'asks'> {
  readonly mcp: McpTools;
}

/** @throws UsageError, or AgentError `invalid`, for options that cannot work, such as rules for unknown tools. */
export async function openWorkplace(
  flags: RunFlags,
  folder: string,
  settings: Settings,
  { mcp, ...shared }: WorkplaceParts,
  io: Io,
): Promise<Workplace> {
  const mayUse = flags.tools === undefined || flags.tools.length > 0;
  const context = contextPlan(flags, settings.file.values, mayUse);
  const sandbox = await sandboxIn(folder, flags, io);
  const limits = limitsOf(flags, settings);
  const about = { folder, limits, context, system: () => system, permission: () => plan.permission };
  const agents = openAgents(flags, { ...shared, ...about }, io);
  const own = ownTools(workspaceOf(folder, flags, context, sandbox, io), agents?.tool([]));
  const tools = chooseTools([...own, ...mcp.tools()], flags.tools);
  checkRules(flags.allow, tools);
  const instructions = flags.contextFiles ? await instructionsOf(folder, io) : undefined;
  const system = systemOf(flags, folder, tools, instructions, io);
  const plan = await permissionIn(folder, flags, true, io.env, mcp.digestOf);
  const current = () => pickTools([...own, ...mcp.tools()], flags.tools);
  return {
    ...plan,
    tools: () => agents?.over(current()) ?? current(),
    agents,
    context,
    instructions,
    sandbox: sandbox.kind,
    system,
    limits,
  };
}

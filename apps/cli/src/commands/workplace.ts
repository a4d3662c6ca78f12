import type { Limits, Tool } from '@cobbler/agent';
import type { CommandDefinition } from '@cobbler/agent/definitions';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { BackgroundCommands } from '@cobbler/tools';
import { planTool } from '@cobbler/tools/planning';
import { checkRules, chooseTools, ownTools, pickTools } from '../config/choose-tools.ts';
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
import { definitionsIn } from '../project/definitions.ts';
import type { Io } from '../terminal/io.ts';
import { workspaceOf } from './own-parts.ts';
import { limitsOf, systemOf } from './run.ts';

/** The surroundings of every conversation in a directory, where a user can be asked. */
export interface Workplace extends PermissionPlan {
  /** Returns the tools of a new conversation: those of MCP servers can change. */
  tools(): readonly Tool[];
  readonly context: ContextPlan;
  readonly instructions: readonly Instructions[];
  /** The prompts with names. */
  readonly commands: readonly CommandDefinition[];
  readonly sandbox: Sandbox['kind'];
  readonly system: readonly string[];
  /** The caller closes it. */
  readonly background: BackgroundCommands;
  readonly limits: Limits & { readonly turns: number };
}

/**
 * Opens the surroundings. In a terminal, the user is asked about the project's skills if `asks`.
 * @throws UsageError, or AgentError `invalid`, for options that cannot work, such as rules for unknown tools.
 */
export async function openWorkplace(
  flags: RunFlags,
  folder: string,
  settings: Settings,
  mcp: McpTools,
  io: Io,
  asks = false,
): Promise<Workplace> {
  const mayUse = flags.tools === undefined || flags.tools.length > 0;
  const context = contextPlan(flags, settings.file.values, mayUse);
  const sandbox = await sandboxIn(folder, flags, io);
  const plan = await permissionIn(folder, flags, true, io.env, mcp.digestOf);
  const { permission } = plan;
  const definitions = await definitionsIn(folder, flags.contextFiles, io, asks);
  const web = webAccess(await allowedHosts(flags, io.env), () => permission);
  const background = new BackgroundCommands();
  const own = [
    ...ownTools(workspaceOf(folder, flags, context, sandbox, background, io), web),
    planTool(() => permission.endPlan()),
    ...definitions.tools,
  ];
  const tools = chooseTools([...own, ...mcp.tools()], flags.tools);
  checkRules(flags.allow, tools);
  const instructions = flags.contextFiles ? await instructionsOf(folder, io) : [];
  return {
    ...plan,
    background,
    tools: () => pickTools([...own, ...mcp.tools()], flags.tools),
    context,
    instructions,
    commands: definitions.commands,
    sandbox: sandbox.kind,
    system: systemOf(flags, folder, tools, instructions, io),
    limits: limitsOf(flags, settings),
  };
}

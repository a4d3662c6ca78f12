import type { Hook, Tool } from '@cobbler/agent';
import type { DelegatedLoop } from '@cobbler/delegate';
import { BackgroundCommands } from '@cobbler/tools';
import { planTool } from '@cobbler/tools/planning';
import type { AgentContext } from '../agents/open-agents.ts';
import { openAgents } from '../agents/open-agents.ts';
import { chooseTools, ownTools, toolsBeside, workspaceOf } from '../config/choose-tools.ts';
import { webAccess } from '../config/permission-plan.ts';
import type { RunFlags } from '../config/run-flags.ts';
import type { Permission } from '../permissions/permission.ts';
import { definitionsIn, hooksFor } from '../project/definitions.ts';
import type { Definitions } from '../project/found-definitions.ts';
import { canAsk } from '../run/attended.ts';
import type { RecordReplay } from '../run/record-replay.ts';
import { listedTools, recordedTools, runHosts, runSandbox } from '../run/replayed-settings.ts';
import type { Audit } from '../session/audit.ts';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';

/** What a run has of this machine. */
export interface OwnParts extends Pick<Definitions, 'commands'> {
  readonly tools: readonly Tool[];
  readonly hooks: readonly Hook[];
  /** The hosts that the user allows. */
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

const noParts: OwnParts = { tools: [], commands: [], hooks: [], hosts: [], close: async () => {} };

interface PartsOrder {
  readonly flags: RunFlags;
  readonly recordReplay: RecordReplay;
  readonly audit: Audit;
  readonly mcp: readonly Tool[];
  /** The program that does the work instead of a model. It has its own tools and skills. */
  readonly delegate?: DelegatedLoop;
}

/**
 * Returns what a run has of this machine. The caller closes it.
 * @throws UsageError for an unknown tool or program.
 */
export async function ownParts(
  { flags, recordReplay, audit, mcp, delegate }: PartsOrder,
  about: Omit<AgentContext, 'definitions' | 'hooks' | 'permission'> & {
    readonly permission: () => Permission;
  },
  io: Io,
): Promise<OwnParts> {
  if (delegate !== undefined) return { ...noParts, tools: delegate.tools };
  const { folder, context, permission } = about;
  const sandbox = await runSandbox({ flags, recordReplay, audit }, folder, io);
  // Older cassettes have requests without them.
  const hasBackground = recordReplay.fact('background', () => !recordReplay.isReplay);
  const background = hasBackground ? new BackgroundCommands() : undefined;
  const hosts = await runHosts({ flags, recordReplay }, io);
  const plans = recordReplay.isReplay || (flags.mode === 'plan' && canAsk(flags, io));
  const found = recordReplay.isReplay
    ? { ...noParts, agents: [], hooks: [] }
    : await definitionsIn(folder, flags, io, flags.form === 'people');
  // A cassette has the requests of one agent.
  const isAlone = recordReplay.recording !== undefined;
  if (isAlone && found.hooks.length > 0)
    throw new UsageError(
      'A run with hooks cannot be recorded, because a replay does not run hooks.',
      'Remove the hooks from the configuration, or pass --no-context-files for those of the project.',
    );
  const hooks = await hooksFor(found, folder, flags, io);
  const agents = isAlone ? undefined : openAgents(flags, { ...about, hooks, definitions: found.agents }, io);
  const workspace = workspaceOf(folder, flags, context, sandbox, background, io);
  const all = toolsBeside(flags.agentFolder, [
    ...ownTools(workspace, webAccess(hosts, permission), agents?.tool([])),
    ...(plans ? [planTool(() => permission().endPlan())] : []),
  ]);
  const own = [...listedTools(all, recordReplay), ...recordedTools('skills', found.tools, recordReplay)];
  const tools = chooseTools([...own, ...mcp], flags.tools);
  return {
    tools: agents?.over(tools) ?? tools,
    commands: found.commands,
    ...{ hooks, hosts },
    close: async () => {
      await agents?.close();
      await background?.close();
    },
  };
}

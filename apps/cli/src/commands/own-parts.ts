import type { Tool } from '@cobbler/agent';
import type { Sandbox } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type { WorkspaceToolsOptions } from '@cobbler/tools';
import { BackgroundCommands } from '@cobbler/tools';
import { planTool } from '@cobbler/tools/planning';
import { ownTools } from '../config/choose-tools.ts';
import type { ContextPlan } from '../config/context-plan.ts';
import { offloadedCommandBytes } from '../config/context-plan.ts';
import { webAccess } from '../config/permission-plan.ts';
import type { RunFlags } from '../config/run-flags.ts';
import type { Permission } from '../permissions/permission.ts';
import { definitionsIn } from '../project/definitions.ts';
import type { Definitions } from '../project/found-definitions.ts';
import { canAsk } from '../run/attended.ts';
import type { RecordReplay } from '../run/record-replay.ts';
import { listedTools, recordedTools, runHosts, runSandbox } from '../run/replayed-settings.ts';
import type { Audit } from '../session/audit.ts';
import type { Io } from '../terminal/io.ts';

/** What a run has of this machine. */
export interface OwnParts extends Pick<Definitions, 'commands'> {
  /** All tools except those of MCP servers. */
  readonly tools: readonly Tool[];
  /** The hosts that the user allows. */
  readonly hosts: readonly string[];
  close(): Promise<void>;
}

/** The parts of a run whose work another program does. */
export const noParts: OwnParts = { tools: [], commands: [], hosts: [], close: async () => {} };

interface PartsOrder {
  readonly flags: RunFlags;
  readonly recordReplay: RecordReplay;
  readonly audit: Audit;
  permission(): Permission;
}

/** Returns what a run has of this machine. The caller closes it. */
export async function ownParts(
  { flags, recordReplay, audit, permission }: PartsOrder,
  folder: string,
  context: ContextPlan,
  io: Io,
): Promise<OwnParts> {
  const sandbox = await runSandbox({ flags, recordReplay, audit }, folder, io);
  // Older cassettes have requests without them.
  const hasBackground = recordReplay.fact('background', () => !recordReplay.isReplay);
  const background = hasBackground ? new BackgroundCommands() : undefined;
  const hosts = await runHosts({ flags, recordReplay }, io);
  const plans = recordReplay.isReplay || (flags.mode === 'plan' && canAsk(flags, io));
  const all = [
    ...ownTools(workspaceOf(folder, flags, context, sandbox, background, io), webAccess(hosts, permission)),
    ...(plans ? [planTool(() => permission().endPlan())] : []),
  ];
  const { tools, commands } = recordReplay.isReplay
    ? noParts
    : await definitionsIn(folder, flags.contextFiles, io, flags.form === 'people');
  return {
    tools: [...listedTools(all, recordReplay), ...recordedTools('skills', tools, recordReplay)],
    commands,
    hosts,
    close: async () => await background?.close(),
  };
}

/** Returns the workspace. Output of a command that is not offloaded is cut at once, because the rest could not be read. */
export function workspaceOf(
  root: string,
  { allowGuarded }: RunFlags,
  { spillAbove }: ContextPlan,
  sandbox: Sandbox,
  background: BackgroundCommands | undefined,
  io: Io,
): WorkspaceToolsOptions {
  const room = spillAbove === 0 ? {} : { maxOutputBytes: offloadedCommandBytes };
  return { root, allowGuarded, environment: io.env, sandbox, ...room, ...defined({ background }) };
}

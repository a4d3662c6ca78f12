// Whether a run can ask a user, and what its header says about it.

import type { Agent, Tool } from '@cobbler/agent';
import { shortPath } from '../config/directory.ts';
import type { Instructions } from '../config/instructions.ts';
import { instructionNames } from '../config/instructions.ts';
import type { RunFlags } from '../config/run-flags.ts';
import type { PermissionMode } from '../permissions/permission.ts';
import { permissionWords } from '../permissions/permission.ts';
import { visible } from '../terminal/escape.ts';
import type { Io, Keyboard } from '../terminal/io.ts';
import { oneLine } from '../terminal/one-line.ts';
import { screenFor } from '../terminal/screen.ts';

/** The modes that can ask a user. */
const asking: ReadonlySet<PermissionMode> = new Set(['ask', 'edits', 'sandboxed', 'plan']);

/** Returns the keyboard if a question can occur and the terminal can show it and read keys; otherwise undefined. */
export function keyboardFor(flags: RunFlags, tools: readonly Tool[], io: Io): Keyboard | undefined {
  const mayAsk = asking.has(flags.mode) && tools.some(({ effect, mustAsk }) => effect !== 'read' || mustAsk);
  return mayAsk && canAsk(flags, io) ? io.openKeyboard() : undefined;
}

/** True if the output is for people, on a terminal that can show a question. */
export function canAsk({ form }: RunFlags, io: Io): boolean {
  return (form === 'people' || form === 'quiet') && screenFor(io.stderr, io.env).redraw;
}

/** Returns the name of the agent of a folder for a header. */
export function agentNames({ agentFolder }: Pick<RunFlags, 'agentFolder'>): string[] {
  return agentFolder === undefined ? [] : [`agent ${oneLine(agentFolder.name)}`];
}

interface HeaderParts {
  readonly agent: Agent;
  readonly flags: RunFlags;
  readonly folder: string;
  readonly tools: readonly Tool[];
  readonly instructions: readonly Instructions[];
  readonly isAttended: boolean;
}

/** Returns the facts that are shown before a run. */
export function headerOf(
  { agent, flags, folder, tools, instructions, isAttended }: HeaderParts,
  io: Io,
): string[] {
  const asks = asking.has(flags.mode);
  const denied = {
    ask: 'edits and commands',
    edits: 'commands',
    sandboxed: 'calls that leave the sandbox',
    plan: 'changes',
  };
  const denies = `denies ${denied[flags.mode as keyof typeof denied]}`;
  const permissions =
    asks && !isAttended ? `${denies} (no terminal for approvals)` : permissionWords[flags.mode];
  return [
    'cobbler',
    ...agentNames(flags),
    visible(agent.model),
    visible(shortPath(folder, io.env)),
    tools.some((tool) => tool.effect !== 'read') ? permissions : permissionWords['read-only'],
    ...instructionNames(instructions),
  ];
}

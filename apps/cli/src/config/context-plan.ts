import { join } from 'node:path';
import type { Blobs, ContextPolicy } from '@cobbler/agent';
import { firstOf, keepLast, memoryBlobs, offload, summarize } from '@cobbler/agent';
import type { FileConfig } from '@cobbler/agent/node';
import { cobblerHome, fileBlobs } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { Environment } from '../terminal/io.ts';
import type { RunFlags } from './run-flags.ts';

/** From what size on a conversation is made smaller and output is kept out of it. 0: never. */
export interface ContextPlan {
  /** Tokens of the conversation. Absent: four fifths of the model's window, where that is known. */
  readonly compactAbove?: number;
  /** Bytes of one tool's output. */
  readonly spillAbove: number;
}

/** About 20,000 tokens: most files can be read at once, a log of a build cannot. */
export const defaultOffload = 65_536;

/** Number of messages kept when summarizing fails. */
const keptMessages = 20;

/** Maximum output of a command, in bytes, when all of it can be read in parts. */
export const offloadedCommandBytes = 4_194_304;

/**
 * Options override configuration, which overrides defaults. Without tools the context does not grow, and nothing is
 * offloaded.
 */
export function contextPlan(flags: RunFlags, values: FileConfig, hasTools: boolean): ContextPlan {
  const compactAbove = flags.compactAbove ?? values.compactAbove;
  const spillAbove = hasTools ? (flags.offloadAbove ?? values.offloadAbove ?? defaultOffload) : 0;
  return { spillAbove, ...defined({ compactAbove }) };
}

/**
 * The plan as the run gets it: older messages give way to a summary of its own model or, where that fails, are
 * left out; long output goes to `blobs`.
 */
export function contextPolicy({ compactAbove, spillAbove }: ContextPlan, blobs: Blobs): ContextPolicy {
  return {
    ...defined({ maxTokens: compactAbove }),
    ...(compactAbove !== 0 && { compact: firstOf(summarize(), keepLast(keptMessages)) }),
    ...(spillAbove !== 0 && {
      offload: offload(blobs, { overBytes: spillAbove, excerptBytes: Math.ceil(spillAbove / 4) }),
    }),
  };
}

/** Where long output is offloaded: in Cobbler's home directory, else in memory. */
export function blobsFor(env: Environment): Blobs {
  const home = cobblerHome(env);
  return home === undefined ? memoryBlobs() : fileBlobs(join(home, 'blobs'));
}

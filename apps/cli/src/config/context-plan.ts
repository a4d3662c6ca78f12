import { join } from 'node:path';
import type { Blobs, ContextPolicy } from '@cobbler/agent';
import { firstOf, keepLast, memoryBlobs, offload, summarize } from '@cobbler/agent';
import type { FileConfig } from '@cobbler/agent/node';
import { cobblerHome, fileBlobs } from '@cobbler/agent/node';
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

/** How many messages are kept where no summary could be made. */
const keptMessages = 20;

/** Most bytes that a command may print where all of it can be read piece by piece. */
export const offloadedCommandBytes = 4_194_304;

/** Options over configuration over defaults. Without tools nothing grows by itself, and nothing is put away. */
export function contextPlan(flags: RunFlags, values: FileConfig, hasTools: boolean): ContextPlan {
  const compactAbove = flags.compactAbove ?? values.compactAbove;
  const spillAbove = hasTools ? (flags.offloadAbove ?? values.offloadAbove ?? defaultOffload) : 0;
  return { spillAbove, ...(compactAbove !== undefined && { compactAbove }) };
}

/**
 * The plan as the run gets it: older messages give way to a summary of its own model or, where that fails, are
 * left out; long output goes to `blobs`.
 */
export function contextPolicy({ compactAbove, spillAbove }: ContextPlan, blobs: Blobs): ContextPolicy {
  return {
    ...(compactAbove !== undefined && { maxTokens: compactAbove }),
    ...(compactAbove !== 0 && { compact: firstOf(summarize(), keepLast(keptMessages)) }),
    ...(spillAbove !== 0 && {
      offload: offload(blobs, { overBytes: spillAbove, excerptBytes: Math.ceil(spillAbove / 4) }),
    }),
  };
}

/** Where long output is put away: with all else that Cobbler keeps, else in memory. */
export function blobsFor(env: Environment): Blobs {
  const home = cobblerHome(env);
  return home === undefined ? memoryBlobs() : fileBlobs(join(home, 'blobs'));
}

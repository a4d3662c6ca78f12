import { join } from 'node:path';
import type { ContextPolicy } from '@cobbler/agent';
import type { Blobs } from '@cobbler/agent/context';
import { firstOf, keepLast, memoryBlobs, offload, summarize } from '@cobbler/agent/context';
import type { FileConfig } from '@cobbler/agent/node';
import { cobblerHome, fileBlobs } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { Environment } from '../terminal/io.ts';
import type { RunFlags } from './run-flags.ts';

/** The sizes above which the conversation is compacted and output is offloaded. 0: never. */
export interface ContextPlan {
  /** Tokens of the conversation. Default: four fifths of the model's window, if that is known. */
  readonly compactAbove?: number;
  /** Bytes of one tool's output. */
  readonly spillAbove: number;
}

/** About 20,000 tokens: most files can be read in one call, but a build log cannot. */
export const defaultOffload = 65_536;

/** Number of messages that are kept when summarizing fails. */
const keptMessages = 20;

/** Maximum output of a command when all of it can be read in parts, in bytes. */
export const offloadedCommandBytes = 4_194_304;

/** Returns the plan: options override the configuration, which overrides defaults. Without tools, nothing is offloaded. */
export function contextPlan(flags: RunFlags, values: FileConfig, hasTools: boolean): ContextPlan {
  const compactAbove = flags.compactAbove ?? values.compactAbove;
  const spillAbove = hasTools ? (flags.offloadAbove ?? values.offloadAbove ?? defaultOffload) : 0;
  return { spillAbove, ...defined({ compactAbove }) };
}

/** Converts the plan. Older messages become a summary or, if that fails, are left out. Long output goes to `blobs`. */
export function contextPolicy({ compactAbove, spillAbove }: ContextPlan, blobs: Blobs): ContextPolicy {
  return {
    ...defined({ maxTokens: compactAbove }),
    ...(compactAbove !== 0 && { compact: firstOf(summarize(), keepLast(keptMessages)) }),
    ...(spillAbove !== 0 && {
      offload: offload(blobs, { overBytes: spillAbove, excerptBytes: Math.ceil(spillAbove / 4) }),
    }),
  };
}

/** Returns the place for offloaded output: Cobbler's home directory, otherwise memory. */
export function blobsFor(env: Environment): Blobs {
  const home = cobblerHome(env);
  return home === undefined ? memoryBlobs() : fileBlobs(join(home, 'blobs'));
}

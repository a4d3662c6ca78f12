import type { AskedCompaction } from '../context/compaction.ts';
import type { ResumeOptions } from '../run/options.ts';
import type { AgentError } from '../values/errors.ts';
import type { Reader, Readers } from '../values/input.ts';
import { any, callable, count, record, signal, text, when } from '../values/input.ts';
import type { HarnessHandler } from './handler.ts';

/** Options of one prompt. */
export interface PromptOptions {
  /** Aborting it cancels this prompt. */
  readonly signal?: AbortSignal;
  /** Id of the run. No earlier run of the session may have the same id. Default: a new one. */
  readonly runId?: string;
  /** The user that the run is for. A remote harness ignores it: the server knows who sends the prompt. */
  readonly user?: string;
}

/** Options for resuming a conversation. */
export interface HarnessResumeOptions extends PromptOptions {
  readonly answers?: NonNullable<ResumeOptions['answers']>;
  /** Shortens the conversation instead of continuing the work. See `ResumeOptions` of the executor. */
  readonly compact?: NonNullable<ResumeOptions['compact']>;
}

/** Options of a fork. */
export interface ForkOptions {
  /** The last event of the copy. Default: the last event of the session. */
  readonly upToSeq?: number;
  /** The user to whom the copy belongs. Default: the user of the session. A remote harness ignores it. */
  readonly user?: string;
}

/** The options that every harness has. */
export interface HarnessConfig {
  /** A stored session to continue, or the id of a new one. Default: a new session. */
  readonly sessionId?: string;
  /** Receives the events of all runs. Default: none; only readers of a run receive events. */
  readonly handler?: HarnessHandler | null;
  /** Called once if the handler throws. Default: the handler's own `onStatus`. */
  readonly report?: (error: AgentError) => void;
}

/** The readers of {@link HarnessConfig}. */
export const harnessReaders: Readers<HarnessConfig> = {
  sessionId: text,
  handler: when((value) => typeof value === 'object', 'an object with functions such as onText'),
  report: callable,
};

const promptFields: Readers<PromptOptions> = { signal, runId: text, user: text };

/** Reads the options of a prompt. */
export const promptOptions: Reader<PromptOptions> = record<PromptOptions>(promptFields);

/** Reads the options for resuming a conversation, except for the answers. */
export const resumeOptions: Reader<HarnessResumeOptions> = record<HarnessResumeOptions>({
  ...promptFields,
  answers: any,
  compact: record<AskedCompaction>({ keep: text }),
});

/** Reads the options of a fork. */
export const forkOptions: Reader<ForkOptions> = record<ForkOptions>({ upToSeq: count, user: text });

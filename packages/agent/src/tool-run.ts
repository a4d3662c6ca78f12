import { AgentError, summarize } from './errors.ts';
import { cap } from './excerpt.ts';
import type { ToolResultPart } from './message.ts';
import type { Tool, ToolContext, ToolOutput } from './tool.ts';
import { isToolOutput } from './tool.ts';
import { wellFormedText } from './well-formed.ts';
import type { Work } from './work.ts';

const defaultTimeoutMs = 120_000;

/** How long a tool that was told to stop may take to say how far it came, in milliseconds. */
const graceMs = 100;

/** What running a tool gave, in a form that is safe to store and send. */
export interface ToolOutcome {
  readonly content: readonly ToolResultPart[];
  readonly isError: boolean;
  readonly summary?: string;
  readonly diff?: string;
}

/** One tool about to run. */
export interface ToolJob {
  readonly tool: Tool;
  readonly arguments: Record<string, unknown>;
  readonly callId: string;
  readonly idempotencyKey: string;
  /** Most bytes of text to keep of what it gives. */
  readonly mostBytes: number;
}

/**
 * Runs a tool within its time limit. Never rejects: whatever the tool does becomes a result. Resolves with
 * nothing when the run stopped and the tool did not say in time how it ended.
 */
export async function runTool(work: Work, job: ToolJob): Promise<ToolOutcome | undefined> {
  const stop = new AbortController();
  const timeoutMs = job.tool.timeoutMs ?? defaultTimeoutMs;
  const limit = job.mostBytes;
  return await new Promise((resolve) => {
    let over = false;
    let lateMessage: string | undefined;
    let cancelGrace = () => {};
    const finish = (outcome: ToolOutcome | undefined) => {
      over = true;
      cancelTimeout();
      cancelGrace();
      work.signal.removeEventListener('abort', onAbort);
      resolve(outcome);
    };
    const end = (reason: AgentError, outcome: ToolOutcome | undefined) => {
      cancelTimeout();
      cancelGrace();
      cancelGrace = work.runtime.timer(graceMs, () => finish(outcome));
      stop.abort(reason);
    };
    const onAbort = () =>
      end(new AgentError({ kind: 'aborted', message: 'The run was stopped.' }), undefined);
    const cancelTimeout = work.runtime.timer(timeoutMs, () => {
      lateMessage = `${job.tool.name} did not finish within ${timeoutMs / 1000} s and was stopped.`;
      end(new AgentError({ kind: 'timeout', message: lateMessage }), failure(lateMessage, limit));
    });
    if (work.signal.aborted) return finish(undefined);
    work.signal.addEventListener('abort', onAbort, { once: true });
    const context = contextOf(work, job, { signal: stop.signal, isOver: () => over });
    // It begins now or never: a moment later a tool beside it may have stopped the run.
    new Promise((settle) => settle(job.tool.execute(job.arguments, context))).then(
      (value) => finish(outcomeOf(value, limit)),
      // What a tool throws because it was stopped says less than why it was stopped.
      (thrown) => finish(failure(lateMessage ?? summarize(thrown).message, limit)),
    );
  });
}

function contextOf(
  work: Work,
  job: ToolJob,
  { signal, isOver }: { readonly signal: AbortSignal; readonly isOver: () => boolean },
): ToolContext {
  const { callId, tool } = job;
  return {
    signal,
    callId,
    idempotencyKey: job.idempotencyKey,
    budget: work.budget,
    progress: (text) => {
      if (!isOver() && !signal.aborted)
        work.live({ type: 'progress', callId, toolName: tool.name, text: String(text) });
    },
  };
}

function outcomeOf(value: unknown, limit: number): ToolOutcome {
  try {
    return isToolOutput(value)
      ? fromOutput(value, limit)
      : { content: text(plainText(value), limit), isError: false };
  } catch (thrown) {
    return failure(
      `The tool returned a value that cannot be written as JSON: ${summarize(thrown).message}`,
      limit,
    );
  }
}

function fromOutput(output: ToolOutput, limit: number): ToolOutcome {
  const content =
    typeof output.content === 'string' ? text(output.content, limit) : parts(output.content, limit);
  return {
    content: content.length === 0 ? text('', limit) : content,
    isError: output.isError === true,
    ...(typeof output.summary === 'string' && { summary: output.summary.toWellFormed() }),
    ...(typeof output.diff === 'string' && { diff: cap(output.diff.toWellFormed(), limit) }),
  };
}

/** The parts that say something; their texts share the limit. */
function parts(given: readonly ToolResultPart[], limit: number): ToolResultPart[] {
  const said = given.filter((part) => part.type !== 'text' || part.text.trim() !== '');
  const texts = said.filter((part) => part.type === 'text').length;
  return said.flatMap((part) => {
    if (part.type === 'text') return text(part.text, Math.floor(limit / texts));
    if ((part.type === 'image' || part.type === 'document') && typeof part.data === 'string')
      return [{ ...part }];
    throw new TypeError('it has a part that is neither text, image nor document');
  });
}

function plainText(value: unknown): string {
  if (typeof value === 'string') return value;
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`it is a ${typeof value}`);
  return value === undefined ? '' : (JSON.stringify(value) ?? '');
}

function failure(message: string, limit: number): ToolOutcome {
  return { content: text(withoutStack(message), limit), isError: true };
}

/** Error texts go to the model: lines of a stack trace would tell it about our files, not about its mistake. */
function withoutStack(message: string): string {
  const lines = message
    .split('\n')
    .filter((line) => !/^\s+at .*(:\d+:\d+|<anonymous>|native)\)?$/.test(line));
  return lines.join('\n');
}

function text(value: string, limit: number): readonly ToolResultPart[] {
  const whole = value.trim() === '' ? '(no output)' : wellFormedText(value);
  return [{ type: 'text', text: cap(whole, limit) }];
}

import { AgentError, summarize } from './errors.ts';
import type { ToolResultPart } from './message.ts';
import type { Tool, ToolContext, ToolOutput } from './tool.ts';
import { isToolOutput } from './tool.ts';
import { wellFormedText } from './well-formed.ts';
import type { Work } from './work.ts';

/** Most bytes of a tool's text that reach the model (reliability promise 10). */
export const maxOutputBytes = 262_144;

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
}

/**
 * Runs a tool within its time limit. Never rejects: whatever the tool does becomes a result. Resolves with
 * nothing when the run stopped and the tool did not say in time how it ended.
 */
export async function runTool(work: Work, job: ToolJob): Promise<ToolOutcome | undefined> {
  const stop = new AbortController();
  const timeoutMs = job.tool.timeoutMs ?? defaultTimeoutMs;
  const limit = job.tool.maxOutputBytes ?? maxOutputBytes;
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
    Promise.resolve()
      .then(() => job.tool.execute(job.arguments, context))
      .then(
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

/**
 * Text of at most about `limit` bytes in UTF-8: head and tail are kept and the cut is marked, because the
 * end of a long output mostly holds its verdict.
 */
export function cap(value: string, limit: number): string {
  const most = Math.min(limit, maxOutputBytes);
  if (value.length * 3 <= most) return value;
  const bytes = new TextEncoder().encode(value);
  if (bytes.length <= most) return value;
  const mark = `\n… ${bytes.length - most} bytes left out …\n`;
  const room = Math.max(0, most - mark.length - 16);
  const decoder = new TextDecoder();
  const head = decoder.decode(bytes.subarray(0, boundary(bytes, Math.floor(room / 2))));
  const tail = decoder.decode(bytes.subarray(boundary(bytes, bytes.length - Math.ceil(room / 2))));
  return `${head}${mark}${tail}`;
}

/** The nearest place at or before `index` where a character begins. */
function boundary(bytes: Uint8Array, index: number): number {
  let at = index;
  while (at > 0 && ((bytes[at] ?? 0) & 0xc0) === 0x80) at -= 1;
  return at;
}

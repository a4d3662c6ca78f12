import type { ApprovalDecision, Run, RunEvent, RunResult } from '@cobbler/agent';
import { systemRuntime } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { ignore, visibleText } from '@cobbler/agent/events';
import type { Harness } from '@cobbler/agent/harness';
import { defined } from '@cobbler/agent/values';
import type { LocalHost } from '../chat/local-host.ts';
import { oneLine } from '../terminal/one-line.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { failureOf } from '../view/failure.ts';

/** A call that waits for a decision, in the protocol's format. */
export interface WaitingCall {
  readonly approval_id: string;
  readonly tool: string;
  readonly arguments: Readonly<Record<string, unknown>>;
  readonly subject?: string;
  readonly diff?: string;
  /** The reason why the tool requires a decision. */
  readonly reason?: string;
  /** The calls that run first and can change what this one does. */
  readonly after?: readonly string[];
  /** True if the call was allowed before, but would no longer do what was shown then. */
  readonly is_repeated?: boolean;
}

/** The state of a session. */
export interface McpRunState {
  readonly session_id: string;
  /** `running`, `waiting` for decisions, `idle` before the first prompt here, or how the last run ended. */
  readonly status: string;
  /** The last response. */
  readonly text?: string;
  /** The reason why the last run did not complete. */
  readonly problem?: string;
  readonly approvals?: readonly WaitingCall[];
  readonly usage?: { readonly input_tokens: number; readonly output_tokens: number; readonly usd?: number };
}

/** Options for waiting. */
export interface WaitOptions {
  /** Ends the wait but not the run. */
  readonly signal: AbortSignal;
  /** Receives progress in the meantime. */
  readonly tell: (words: string) => void;
  /** Maximum wait in milliseconds. Default: until the run ends or waits for a decision. */
  readonly ms?: number;
}

/** One conversation with a client. It sends prompts to the harness and collects its events. */
export class McpSession {
  readonly #host: LocalHost;
  readonly #harness: Harness;
  readonly #approvals = new Map<string, ApprovalRequestedEvent>();
  readonly #watchers = new Set<(event: RunEvent) => void>();
  #run: Run | undefined;
  #result: RunResult | undefined;

  constructor(host: LocalHost, sessionId: string | undefined, report: (line: string) => void) {
    this.#host = host;
    this.#harness = host.open(sessionId, {
      handler: { onEvent: (event) => this.#handle(event) },
      onNotice: report,
      onTrouble: report,
      onLost: report,
      onBack: () => undefined,
    });
  }

  get id(): string {
    return this.#harness.sessionId;
  }

  get state(): McpRunState {
    const approvals = [...this.#approvals.values()].map(waitingCall);
    if (this.#run !== undefined)
      return {
        session_id: this.id,
        status: approvals.length > 0 ? 'waiting' : 'running',
        ...(approvals.length > 0 && { approvals }),
      };
    return this.#result === undefined
      ? { session_id: this.id, status: 'idle' }
      : this.#endedState(this.#result);
  }

  /** @throws UsageError while a run is active. */
  say(prompt: string): void {
    if (this.#run !== undefined)
      throw UsageError.withCode(
        'busy',
        `Session ${this.id} is running.`,
        'Wait with cobbler_status, or use cobbler_steer.',
      );
    const runId = systemRuntime.id();
    this.#host.undo.begin(this.id, runId);
    const run = this.#harness.prompt(prompt, { runId });
    this.#run = run;
    void run.result.then((result) => {
      this.#result = result;
      this.#run = undefined;
      this.#approvals.clear();
    });
  }

  /** Resolves when the run has ended, waits for a decision, or the time is over. */
  async waitForSettled({ signal, tell, ms }: WaitOptions): Promise<void> {
    const run = this.#run;
    if (run === undefined || this.#approvals.size > 0 || signal.aborted) return;
    const { promise, resolve } = Promise.withResolvers<void>();
    const timer = ms === undefined ? undefined : setTimeout(resolve, ms);
    const watch = (event: RunEvent) => {
      if (event.type === 'approval_requested') resolve();
      const words = progressWords(event);
      if (words !== undefined) tell(words);
    };
    this.#watchers.add(watch);
    signal.addEventListener('abort', () => resolve(), { once: true });
    await Promise.race([promise, run.result]);
    this.#watchers.delete(watch);
    clearTimeout(timer);
  }

  /** @throws UsageError for an approval id that no call waits for. */
  decide(approvalId: string, answer: ApprovalDecision): void {
    if (!this.#approvals.has(approvalId) || this.#run?.decide(approvalId, answer) !== true)
      throw UsageError.withCode(
        'no_approval',
        `No call with the id ${JSON.stringify(approvalId)} is waiting for approval.`,
        'List the waiting calls: cobbler_status',
      );
    this.#approvals.delete(approvalId);
  }

  steer(text: string): boolean {
    return this.#harness.steer(text);
  }

  /** Resolves when the run has ended. */
  async cancel(): Promise<void> {
    this.#harness.cancel();
    await this.#run?.result;
  }

  async close(): Promise<void> {
    await this.#harness.close();
  }

  #handle(event: RunEvent): void {
    if (event.type === 'approval_requested') this.#approvals.set(event.approvalId, event);
    if (event.type === 'approval_decided') this.#approvals.delete(event.approvalId);
    for (const watch of this.#watchers) watch(event);
  }

  #endedState({ status, text, error, metrics }: RunResult): McpRunState {
    const { totalInputTokens, totalOutputTokens, usd } = metrics;
    const failure =
      error === undefined ? undefined : failureOf(error, { ...this.#host.failure, verbose: false });
    return {
      session_id: this.id,
      status,
      text,
      ...defined({ problem: failure && [failure.what, ...failure.advice].join('\n') }),
      usage: {
        input_tokens: totalInputTokens,
        output_tokens: totalOutputTokens,
        ...defined({ usd }),
      },
    };
  }
}

function waitingCall(request: ApprovalRequestedEvent): WaitingCall {
  const { approvalId, toolName, subject, diff, mustAsk, after, isRepeated } = request;
  return {
    approval_id: approvalId,
    tool: visibleText(toolName, 'name'),
    arguments: request.arguments,
    ...defined({
      subject: subject && visibleText(subject, 'name'),
      diff: diff && visibleText(diff, 'diff'),
      reason: mustAsk && visibleText(mustAsk, 'name'),
      after: after?.map((line) => visibleText(line, 'name')),
      is_repeated: isRepeated,
    }),
  };
}

const maxCharacters = 200;

/** Returns an event as one line for a waiting client; undefined for most events. */
function progressWords(event: RunEvent): string | undefined {
  switch (event.type) {
    case 'tool_started':
      return clipped(event.toolName);
    case 'tool_result':
      return clipped(`${event.toolName}: ${event.summary ?? (event.isError ? 'failed' : 'done')}`);
    case 'progress':
      return clipped(`${event.toolName}: ${event.text}`);
    case 'approval_requested':
      return clipped(`waiting for approval: ${event.toolName} ${event.subject ?? ''}`);
    case 'text':
      return event.text.trim() === '' ? undefined : clipped(event.text);
    default:
      return ignore<'input' | 'response' | 'call' | 'note' | 'end' | 'stream' | 'activity'>(event);
  }
}

function clipped(text: string): string {
  const line = oneLine(text);
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line;
}

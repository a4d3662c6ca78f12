import type { ErrorData, RunEvent } from '@cobbler/agent';
import { ignore } from '@cobbler/agent/events';
import { defined } from '@cobbler/agent/values';
import { formatMs, formatSeconds } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Activity } from './footer.ts';
import type { ToolCallList } from './tool-calls.ts';

/** Number of lines that are shown of the output of a running command. */
const outputLines = 4;

/** The activity of a run: updated by events, read by views. */
export class RunActivity {
  readonly #model: string;
  readonly #calls: ToolCallList;
  readonly #now: () => number;
  #what: string;
  #since: number;
  #progress = '';
  /** The last lines that a command printed. */
  #output: readonly string[] = [];
  #retry: { readonly event: RetryEvent; readonly until: number } | undefined;
  #tokens = 0;
  #usd: number | undefined = 0;
  #stopping = false;

  constructor(model: string, calls: ToolCallList, now: () => number) {
    this.#model = oneLine(model);
    this.#calls = calls;
    this.#now = now;
    this.#what = `waiting for ${this.#model}`;
    this.#since = now();
  }

  /** Updates the activity. The call list must have processed the event first. */
  event(event: RunEvent): void {
    switch (event.type) {
      case 'status':
        if (event.state === 'thinking') this.#changeTo(`waiting for ${this.#model}`);
        break;
      case 'reasoning_delta':
        return this.#changeTo('thinking');
      case 'text_delta':
        return this.#changeTo('writing');
      case 'tool_input_delta':
        return this.#changeTo('writing a tool call');
      case 'tool_started':
      case 'tool_result':
        return this.#showRunning();
      case 'progress':
        if (event.toolName !== 'run_command') this.#progress = event.text.split('\n').at(-1) ?? '';
        else this.#output = [...this.#output, ...event.text.split('\n')].slice(-outputLines);
        break;
      case 'retry':
        this.#retry = { event, until: this.#now() + event.delayMs };
        return this.#changeTo(`waiting for ${oneLine(event.next?.model ?? this.#model)}`);
      case 'assistant':
        this.#tokens += event.usage.inputTokens + event.usage.outputTokens;
        this.#usd = this.#usd === undefined || event.usd === undefined ? undefined : this.#usd + event.usd;
        break;
      default:
        ignore<'input' | 'response' | 'call' | 'note' | 'end' | 'stream' | 'activity'>(event);
    }
  }

  /** Shows that a stop was requested. */
  stopping(): void {
    this.#stopping = true;
    this.#changeTo('stopping');
  }

  get current(): Activity {
    const now = this.#now();
    return {
      what: this.#describe(now),
      elapsedMs: now - this.#since,
      tokens: this.#tokens,
      ...defined({ usd: this.#usd }),
      output: this.#output,
      hint: this.#stopping ? 'Ctrl-C again exits immediately' : 'Ctrl-C stops',
    };
  }

  #describe(now: number): string {
    if (this.#stopping) return 'stopping';
    const retry = this.#retry;
    if (retry !== undefined && now < retry.until) {
      return retryWords(retry.event, retry.until - now, (ms) => formatSeconds(ms + 999));
    }
    return this.#progress === '' ? this.#what : `${this.#what}: ${this.#progress}`;
  }

  #showRunning(): void {
    const running = this.#calls.running;
    const [first] = running;
    if (first === undefined) return;
    this.#changeTo(running.length === 1 ? first : `${first} and ${running.length - 1} more`);
  }

  #changeTo(what: string): void {
    if (what === this.#what) return;
    this.#what = what;
    this.#since = this.#now();
    this.#progress = '';
    this.#output = [];
  }
}

type RetryEvent = Extract<RunEvent, { type: 'retry' }>;

/** Describes a failed attempt: `529 overloaded, retry 4 in 12 s`, or `529 overloaded, switching to openai:gpt-5`. */
export function retryWords(
  { error, attempt, leftMs, next }: RetryEvent,
  waitMs: number,
  format: (ms: number) => string = formatMs,
): string {
  if (next !== undefined)
    return `${retryReason(error)}, switching to ${oneLine(next.provider)}:${oneLine(next.model)}`;
  const end = leftMs === undefined ? '' : `, gives up in ${formatSeconds(waitMs + leftMs)}`;
  return `${retryReason(error)}, retry ${attempt} in ${format(waitMs)}${end}`;
}

const kindWords: Partial<Record<ErrorData['kind'], string>> = {
  rate_limit: 'rate limit',
  network: 'connection lost',
  timeout: 'no response',
  agent: 'service error',
  auth: 'key rejected',
};

const codeWords: Readonly<Record<string, string>> = {
  context_full: 'conversation too long',
  not_served: 'model not found',
};

/** Returns the reason for a retry in two words: `529 overloaded`. */
function retryReason(error: ErrorData): string {
  const word =
    error.status === 529
      ? 'overloaded'
      : (codeWords[error.code ?? ''] ?? kindWords[error.kind] ?? oneLine(error.kind));
  return error.status === undefined ? word : `${error.status} ${word}`;
}

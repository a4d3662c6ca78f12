import type { GateCall, LimitName, RunResult, RunStatus } from '@cobbler/agent';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText } from '@cobbler/agent/events';
import { defined, reachedBudget } from '@cobbler/agent/values';
import type { OutputForm } from '../config/run-flags.ts';
import { shortId } from '../session/find-session.ts';
import { plural } from '../terminal/format.ts';
import { oneLine } from '../terminal/one-line.ts';
import type { Style } from '../terminal/style.ts';
import { flow, wrap } from '../terminal/text-width.ts';
import type { FailureContext } from './failure.ts';
import { failureOf } from './failure.ts';
import type { RunSummary } from './summary.ts';
import { summaryLines } from './summary.ts';
import type { ToolCallList } from './tool-calls.ts';

/** The stored session of a run. */
export interface KeptSession {
  readonly id: string;
  /** Number of events that could not be written. */
  readonly missing: number;
  /** The name of the command. */
  readonly name: string;
  /** The folder of its agent, as the user wrote it. */
  readonly agent?: string;
}

/** A run that has ended, and its settings. */
export interface FinishedTask {
  readonly result: Pick<RunResult, 'status' | 'limit' | 'error' | 'metrics'> & {
    readonly approvals?: readonly ApprovalRequestedEvent[];
  };
  readonly task: {
    readonly form: OutputForm;
    readonly verbose: boolean;
    readonly limits: RunSummary['given'];
    readonly failure: Omit<FailureContext, 'verbose'>;
    readonly permission: {
      readonly undecided: readonly GateCall[];
      readonly missingOptions: readonly string[];
    };
  };
  readonly calls: Pick<ToolCallList, 'changes'>;
  /** If absent, the run was not stored. */
  readonly session?: KeptSession;
}

/** Returns the label below an incomplete response. */
export function markOf(status: RunStatus): string | undefined {
  return marks[status];
}

const marks: Readonly<Record<RunStatus, string | undefined>> = {
  complete: undefined,
  cancelled: 'cancelled',
  timeout: 'timed out',
  max_tokens: 'cut off',
  refusal: 'cut off',
  limit: 'cut off',
  waiting: 'cut off',
  failed: 'cut off',
};

/** Returns the end of every run: the summary, the failures and their fixes, and the options that allow denied calls. */
export function closingLines(finished: FinishedTask, style: Style, columns: number): string[] {
  const { result, task, calls } = finished;
  const isJson = task.form === 'json' || task.form === 'json-deltas';
  const trouble = troubleLines(finished);
  const indented = trouble.flatMap((line) => inColumns(line, columns));
  if (task.form === 'quiet' || isJson) return trouble.map((line) => `cobbler: ${line}`);
  const end = {
    status: result.status,
    metrics: result.metrics,
    given: task.limits,
    changes: calls.changes,
    ...defined({ limit: result.limit, error: result.error }),
  };
  const gap = style.marks.ok === '' ? [] : [''];
  return [
    ...gap,
    ...summaryLines(end, style, columns),
    ...indented,
    ...sessionLines(finished, style, columns),
  ];
}

/** Returns the command to continue. A run that did nothing because its session is busy has already reported it. */
function sessionLines({ session, result }: FinishedTask, style: Style, columns: number): string[] {
  if (session === undefined || ['in_use', 'no_session'].includes(result.error?.code ?? '')) return [];
  const { missing, name, agent } = session;
  const id = shortId(session.id);
  if (missing > 0) {
    const words = `Session ${id} lacks the last ${plural(missing, 'event')}: resuming it would repeat past actions, so start a new session.`;
    return wrap(words, columns - 3).map((line) => `  ${style.yellow(line)}`);
  }
  const more =
    agent === undefined ? '' : ` --agent ${/^[\w./~-]+$/.test(agent) ? agent : JSON.stringify(agent)}`;
  const how = resumesAlone.has(result.status)
    ? `${name} resume ${id}${more}`
    : `${name} -s ${id}${more} "..."`;
  const parts = [`session ${id}`, `continue: ${how}`];
  return flow(parts, ` ${style.marks.dot} `, columns - 3).map((line) => `  ${style.dim(line)}`);
}

/** Outcomes that continue without another prompt. */
const resumesAlone: ReadonlySet<RunStatus> = new Set(['limit', 'timeout', 'cancelled', 'failed', 'waiting']);

/** Breaks a line into columns, but never within an option that the user may copy. */
function inColumns(line: string, columns: number): string[] {
  if (line.startsWith('--')) return [`    ${line}`];
  return wrap(line, columns - 3).map((part) => `  ${part}`);
}

/** Returns notices in addition to the summary; empty if there is nothing to report. */
function troubleLines({ result, task, session }: FinishedTask): string[] {
  const lines: string[] = [];
  if (result.status === 'failed' && result.error !== undefined) {
    const failure = failureOf(result.error, { ...task.failure, verbose: task.verbose });
    lines.push(failure.what, ...failure.advice);
  }
  const more =
    result.status === 'limit' ? result.limit && limitAdvice[result.limit] : statusAdvice[result.status];
  const { error } = result;
  lines.push(...limitLines(result.approvals ?? [], session));
  if (error !== undefined && reachedBudget(error))
    lines.push(`Completed work is kept. ${oneLine(error.message)}`);
  else if (more !== undefined) lines.push(more);
  const { undecided, missingOptions } = task.permission;
  if (undecided.length > 0) {
    lines.push(
      `${plural(undecided.length, 'call')} denied, because there is no terminal for approvals.${missingOptions.length > 0 ? ' To allow them:' : ''}`,
      ...missingOptions,
    );
  }
  return lines;
}

/** Returns the open question about a limit, and how to answer it. */
function limitLines(open: readonly ApprovalRequestedEvent[], session: KeptSession | undefined): string[] {
  const request = open.find(({ limit }) => limit !== undefined);
  if (request?.limit === undefined) return [];
  const answer = session && `${session.name} resume ${shortId(session.id)} --more ${request.limit.more}`;
  return [approvalText(request), ...(answer === undefined ? [] : [`To continue: ${answer}`])];
}

const limitAdvice: Readonly<Record<LimitName, string | undefined>> = {
  turns: 'Completed work is kept. To continue, raise --max-turns.',
  usd: 'Completed work is kept. To continue, raise --max-usd.',
  toolCalls: undefined,
  tokens: 'Completed work is kept. To continue, raise --max-tokens.',
  no_progress:
    'The model repeated itself. Make the task more specific, or try a stronger model: -m best. To allow more repeats: --max-repeats 20, or --max-repeats never.',
};

const statusAdvice: Readonly<Record<RunStatus, string | undefined>> = {
  complete: undefined,
  refusal: undefined,
  limit: undefined,
  cancelled: undefined,
  waiting: undefined,
  failed: undefined,
  timeout: 'Completed work is kept. To continue, raise --timeout.',
  max_tokens: 'Raise maxTokens in the configuration to allow a longer response, or request less at a time.',
};

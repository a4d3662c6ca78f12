import type { CallItem, CallStatus } from '@cobbler/agent/events';
import { callStatus, visibleText } from '@cobbler/agent/events';
import { assertNever } from '@cobbler/agent/values';
import { duration } from '../parts/format.ts';
import { countOf, totalsOf } from './turns.ts';

/** Arguments that show what a call does, the most informative first. */
const telling = ['command', 'path', 'file', 'pattern', 'query', 'url', 'name'];

/** Returns the most important argument of a call, with every character visible. */
export function subjectOf(call: CallItem): string {
  return visibleText(tellingValue(call), 'name');
}

function tellingValue({ part, approval }: CallItem): string {
  const given = part.arguments ?? {};
  const { agent, task } = given;
  if (typeof agent === 'string' && typeof task === 'string') return `${agent}: ${task}`;
  for (const name of telling) {
    const value = given[name];
    if (typeof value === 'string' && value !== '') return value;
  }
  // While a sub-agent asks, the approval is about one of its own calls.
  if (approval?.subject !== undefined && approval.toolName === part.toolName) return approval.subject;
  const first = Object.values(given).find((value) => typeof value === 'string' && value !== '');
  return typeof first === 'string' ? first : '';
}

/** Symbols for the status of a call, readable without color. */
export const marks: Readonly<Record<CallStatus, string>> = {
  proposed: '·',
  asked: '?',
  running: '●',
  done: '✓',
  failed: '✗',
  denied: '⊘',
  not_run: '–',
  unknown: '?',
};

/** Returns the status of a call in words. */
export function statusName(status: CallStatus): string {
  if (status === 'asked') return 'waiting for approval';
  return status === 'unknown' ? 'outcome unknown' : status.replace('_', ' ');
}

/** Returns the outcome of a call in a few words. */
export function outcomeOf(call: CallItem): string {
  const { report, decision } = call;
  const status = callStatus(call);
  switch (status) {
    case 'proposed':
      return '';
    case 'done':
      return report?.summary ?? '';
    case 'failed':
      return report?.summary ?? 'failed';
    case 'denied':
      return decision?.decision === 'expired' ? 'expired' : 'denied';
    case 'asked':
    case 'running':
    case 'not_run':
    case 'unknown':
      return statusName(status);
    default:
      return assertNever(status);
  }
}

/** Returns the duration of a finished call; an empty string for one that never ran. */
export function timeOf(call: CallItem): string {
  const { report } = call;
  if (report === undefined || report.notRun === true || report.denied === true) return '';
  return duration(report.durationMs);
}

/** Returns the result of a call as text. */
export function resultText({ report, result }: CallItem): string {
  const content = report?.content ?? result?.content ?? [];
  return content.map((part) => (part.type === 'text' ? part.text : '')).join('');
}

/** What the sub-agents of a call have used. */
export interface CallCost {
  readonly models: readonly string[];
  /** All tokens, input and output. */
  readonly count: number;
  /** US dollars of all requests with a known price. */
  readonly usd: number;
  /** True if a price is unknown, so that `usd` is not the whole cost. */
  readonly isPartial: boolean;
}

/** Adds up what the sub-agents of a call have used so far. */
export function costOf({ spendings = [] }: CallItem): CallCost {
  const models = new Set(spendings.flatMap(({ model }) => model ?? []));
  const { usage, usd, isPartial } = totalsOf(spendings);
  return { models: [...models], count: countOf(usage), usd, isPartial };
}

import type { ApprovalRequestedEvent } from '../events/event.ts';
import type { PlannedChange, Tool, ToolPreview } from '../interfaces/tool.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { listOf, read, record, text } from '../values/input.ts';
import { sortedKeys } from '../values/json.ts';
import { maxNoteBytes, maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { Job } from './plan.ts';
import { subjectOf } from './plan.ts';
import type { RunContext } from './run-context.ts';
import { defaultTimeoutMs } from './tool-run.ts';

/** The fields of an approval request that are bound to what the call would do when the user is asked. */
type Bound = Pick<ApprovalRequestedEvent, 'changes' | 'after'>;

/** What a user is asked to allow. */
export interface Proposal {
  readonly shown: Pick<ApprovalRequestedEvent, 'summary' | 'diff' | 'changes' | 'after' | 'hash'>;
  /** The changes with their texts; undefined if the tool does not know them. */
  readonly changes: readonly PlannedChange[] | undefined;
}

/**
 * Returns what the calls would do about which no user was asked yet. A call that comes after others is previewed as if
 * those of them that are asked about had run.
 * @param jobs the calls of the response that are not refused, in order.
 */
export async function proposalsOf(
  run: RunContext,
  jobs: readonly Job[],
): Promise<(readonly [Job, Proposal])[]> {
  const proposals: (readonly [Job, Proposal])[] = [];
  const earlier: PlannedChange[] = [];
  for (const [index, job] of jobs.entries()) {
    if (job.type !== 'ask' || job.call.approval !== undefined) continue;
    const proposal = await proposalOf(run, job, earlier, jobs.slice(0, index));
    proposals.push([job, proposal]);
    earlier.push(...(proposal.changes ?? []));
  }
  return proposals;
}

/**
 * Returns what a call would do.
 * @param earlier changes that are assumed to be made already.
 * @param before the calls of the same response that run first.
 */
export async function proposalOf(
  run: RunContext,
  job: Job,
  earlier: readonly PlannedChange[] = [],
  before: readonly Job[] = [],
): Promise<Proposal> {
  const { changes, ...preview } = await previewOf(run, job, earlier);
  const bound: Bound =
    changes === undefined
      ? defined({ after: linesOf(before) })
      : { changes: await Promise.all(changes.map((change) => digestsOf(run, change))) };
  const hash = await approvalHash(run, job.tool.name, job.given, bound);
  return { shown: { ...preview, ...bound, hash }, changes };
}

/** Returns the hash that binds an approval to its tool, its arguments, and what the call would do. */
export function approvalHash(
  run: RunContext,
  toolName: string,
  args: object,
  { changes, after }: Bound,
): Promise<string> {
  const parts = [toolName, sortedKeys(args)];
  if (changes !== undefined || after !== undefined) parts.push(sortedKeys(defined({ changes, after })));
  return run.config.runtime.digest(JSON.stringify(parts));
}

async function digestsOf(run: RunContext, { target, before, after }: PlannedChange) {
  const hash = async (text: string | undefined) =>
    text === undefined ? text : await run.config.runtime.digest(text);
  return { target, ...defined({ before: await hash(before), after: await hash(after) }) };
}

/** Returns a line for each call that may change something; undefined if there are none. */
function linesOf(jobs: readonly Job[]): string[] | undefined {
  const lines = jobs.flatMap(({ tool, valid }) =>
    tool.effect === 'read' ? [] : [`${tool.name} ${subjectOf(tool, valid)}`.trim()],
  );
  return lines.length === 0 ? undefined : lines;
}

const readChanges = listOf(record<PlannedChange>({ target: text, before: text, after: text }, ['target']));

/** Returns a preview that can be stored. A tool that throws is expected to change nothing when it runs. */
async function previewOf(
  run: RunContext,
  { tool, valid }: Job,
  earlier: readonly PlannedChange[],
): Promise<Omit<ToolPreview, 'changes'> & Pick<Proposal, 'changes'>> {
  try {
    const { summary, diff, changes } = (await inTime(run, tool, tool.preview?.(valid, { earlier }))) ?? {};
    return {
      ...(summary !== undefined && { summary: cap(wellFormedText(summary), maxNoteBytes) }),
      ...(diff !== undefined && { diff: cap(wellFormedText(diff), maxOutputBytes) }),
      changes: changes === undefined ? undefined : read(changes, readChanges, 'changes'),
    };
  } catch (thrown) {
    // A recording that does not contain the preview says nothing about the call.
    if (AgentError.is(thrown) && thrown.code === 'replay_miss') throw thrown;
    return { summary: cap(AgentError.from(thrown, 'tool').message, maxNoteBytes), changes: [] };
  }
}

/** Waits for a preview until the run stops, at most for the time limit of its tool. */
function inTime<Value>(run: RunContext, tool: Tool, pending: Value | Promise<Value>): Promise<Value> {
  const timeoutMs = tool.timeoutMs ?? defaultTimeoutMs;
  const message = `The preview of ${tool.name} was not ready within ${timeoutMs / 1000} s.`;
  const { promise, reject } = Promise.withResolvers<never>();
  const fail = () => reject(new AgentError({ kind: 'timeout', code: 'tool_timeout', message }));
  const ends = [run.config.runtime.timer(timeoutMs, fail), run.onStop(fail)];
  return Promise.race([pending, promise]).finally(() => {
    for (const end of ends) end();
  });
}

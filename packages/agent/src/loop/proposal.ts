import type { ApprovalRequestedEvent } from '../events/event.ts';
import type { OpenCall } from '../events/state.ts';
import type { PlannedChange, ToolPreview } from '../interfaces/tool.ts';
import { defined } from '../values/defined.ts';
import { AgentError } from '../values/errors.ts';
import { listOf, read, record, text } from '../values/input.ts';
import { copyOf, sortedKeys } from '../values/json.ts';
import { maxNoteBytes, maxOutputBytes } from '../values/sizes.ts';
import { cap } from '../values/truncate.ts';
import { wellFormedText } from '../values/unicode.ts';
import type { Job } from './plan.ts';
import { subjectOf } from './plan.ts';
import type { RunContext } from './run-context.ts';

/** The fields of an approval request that are bound to what the call would do when the user is asked. */
type Bound = Pick<ApprovalRequestedEvent, 'changes' | 'after'>;

/** What a user is asked to allow. */
export interface Proposal {
  readonly shown: Pick<ApprovalRequestedEvent, 'summary' | 'diff' | 'changes' | 'after' | 'hash'>;
  /** The changes with their texts; undefined if the tool does not know them. */
  readonly changes: readonly PlannedChange[] | undefined;
}

/**
 * Returns what each of these calls of one response would do, by its place in the list. A call that comes after others is
 * previewed as if those had run, in the same order in which they will.
 */
export async function proposalsOf(run: RunContext, jobs: readonly Job[]): Promise<Proposal[]> {
  const proposals: Proposal[] = [];
  const earlier: PlannedChange[] = [];
  const before: OpenCall[] = [];
  for (const job of jobs) {
    const proposal = await proposalOf(run, job, earlier, before);
    proposals.push(proposal);
    earlier.push(...(proposal.changes ?? []));
    before.push(job.call);
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
  before: readonly OpenCall[] = [],
): Promise<Proposal> {
  const { changes, ...preview } = await previewOf(job, earlier);
  const bound: Bound =
    changes === undefined
      ? defined({ after: linesOf(run, before) })
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
  const { digest } = run.config.runtime;
  return {
    target,
    ...(before !== undefined && { before: await digest(before) }),
    ...(after !== undefined && { after: await digest(after) }),
  };
}

/** Returns a line for each call that may change something; undefined if there are none. */
function linesOf(run: RunContext, calls: readonly OpenCall[]): string[] | undefined {
  const lines = calls.flatMap(({ part: { toolName, arguments: args } }) => {
    const tool = run.tools.get(toolName);
    if (tool === undefined || tool.effect === 'read') return [];
    return [`${toolName} ${subjectOf(tool, copyOf(args))}`.trim()];
  });
  return lines.length === 0 ? undefined : lines;
}

const readChanges = listOf(record<PlannedChange>({ target: text, before: text, after: text }, ['target']));

/** Returns a preview that can be stored. A tool that throws is expected to change nothing when it runs. */
async function previewOf(
  { tool, valid }: Job,
  earlier: readonly PlannedChange[],
): Promise<Omit<ToolPreview, 'changes'> & Pick<Proposal, 'changes'>> {
  try {
    const { summary, diff, changes } = (await tool.preview?.(valid, { earlier })) ?? {};
    return {
      ...(summary !== undefined && { summary: cap(wellFormedText(summary), maxNoteBytes) }),
      ...(diff !== undefined && { diff: cap(wellFormedText(diff), maxOutputBytes) }),
      changes: changes === undefined ? undefined : read(changes, readChanges, 'changes'),
    };
  } catch (thrown) {
    return { summary: cap(AgentError.from(thrown, 'tool').message, maxNoteBytes), changes: [] };
  }
}

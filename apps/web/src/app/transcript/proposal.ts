import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText, argumentLines, visibleText } from '@cobbler/agent/events';
import { readDiff } from '../session/diff.ts';
import { maxDiffLines } from './diff-view.tsx';

/** The call that the page shows for approval. */
export interface Proposal {
  /** A command as the user would type it. */
  readonly command?: string;
  /** A diff that is short enough to be shown line by line. */
  readonly diff?: string;
  /** The lines of a plan, every character of them. */
  readonly plan?: readonly string[];
  /** The arguments that are in none of these; can be empty. */
  readonly text: string;
  /** True if this is the complete call. Otherwise it cannot be allowed here. */
  readonly isWhole: boolean;
}

/** Maximum number of characters to insert into the page, which would freeze with more. */
const maxCharacters = 400_000;

/** Number of characters shown of a call that is too long to show. */
const firstCharacters = 20_000;

/** Returns a call in the form that is shown before it can be allowed: nothing is cut, and every character is visible. */
export function proposalOf(approval: ApprovalRequestedEvent): Proposal {
  const text = approvalText(approval);
  if (approval.limit !== undefined) return { text, isWhole: true };
  if (text.length > maxCharacters) return { text: `${text.slice(0, firstCharacters)}…`, isWhole: false };
  if (approval.diff !== undefined) {
    const diff = visibleText(approval.diff, 'diff');
    const isDrawn = readDiff(diff).every(({ lines }) => lines.length <= maxDiffLines);
    return isDrawn
      ? { diff, text: argumentLines(approval).join('\n'), isWhole: true }
      : { text, isWhole: true };
  }
  if (approval.toolName === 'present_plan') return planOf(argumentLines(approval));
  const { command } = approval.arguments;
  if (typeof command !== 'string') return { text: argumentLines(approval).join('\n'), isWhole: true };
  const rest = argumentLines(approval, [command]).join('\n');
  return { command: visibleText(command, 'name'), text: rest, isWhole: true };
}

/** Returns a plan without the marks that separate the lines of an argument from the others. */
function planOf(lines: readonly string[]): Proposal {
  const from = lines.findIndex((line) => line === 'plan:' || line.startsWith('plan | '));
  const isLine = (line: string) => /^(?:plan| ) \|(?: |$)/.test(line);
  const rest = lines.slice(from + (lines[from] === 'plan:' ? 1 : 0));
  // Whatever is not a line of the plan is shown as it is.
  if (from === -1 || !rest.every(isLine)) return { text: lines.join('\n'), isWhole: true };
  const plan = rest.map((line) => line.replace(/^(?:plan| ) \| ?/, ''));
  return { plan, text: lines.slice(0, from).join('\n'), isWhole: true };
}

import type { PermissionOption, RequestPermissionOutcome, ToolCallContent } from '@agentclientprotocol/sdk';
import type { ApprovalRequestedEvent, ReachedLimit } from '@cobbler/agent/events';
import { approvalText, argumentLines, limitQuestion, visibleText } from '@cobbler/agent/events';
import { diffContent } from './tool-view.ts';

/** A user's decision about a tool call. */
export type PermissionChoice =
  | { readonly type: 'allow'; readonly rule?: string }
  | { readonly type: 'deny' }
  | { readonly type: 'cancel' };

const always = 'always ';

/**
 * Returns the choices to offer to the user, the narrowest rule first. The id of an "always" choice is the rule to
 * store. A call that the editor does not show completely can only be denied.
 */
export function permissionOptions(
  rules: readonly string[],
  isWhole: boolean,
  limit?: ReachedLimit,
): PermissionOption[] {
  if (limit !== undefined) {
    const { allow, deny } = limitQuestion(limit);
    return [
      { optionId: 'allow', name: allow, kind: 'allow_once' },
      { optionId: 'deny', name: deny, kind: 'reject_once' },
    ];
  }
  const deny: PermissionOption = { optionId: 'deny', name: 'Deny', kind: 'reject_once' };
  if (!isWhole) return [deny];
  return [
    { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
    ...rules.map((rule): PermissionOption => {
      return {
        optionId: always + rule,
        name: visibleText(`Always allow ${rule}`, 'name'),
        kind: 'allow_always',
      };
    }),
    deny,
  ];
}

/** Returns the decision for a chosen option. An unknown option denies the call. */
export function choiceOf(
  outcome: RequestPermissionOutcome,
  offered: readonly PermissionOption[],
): PermissionChoice {
  if (outcome.outcome === 'cancelled') return { type: 'cancel' };
  const { optionId } = outcome;
  const option = offered.find((one) => one.optionId === optionId);
  if (option?.kind === 'allow_once') return { type: 'allow' };
  if (option?.kind === 'allow_always') return { type: 'allow', rule: optionId.slice(always.length) };
  return { type: 'deny' };
}

/** The content of an approval request in an editor; `isWhole` is false if it is cut. */
interface ApprovalContent {
  readonly content: ToolCallContent[];
  readonly isWhole: boolean;
}

/** Maximum length of a call that an editor's dialog is trusted to show, in characters. */
const maxCharacters = 32_768;

/** Returns the complete call: the diff in the editor's format, and every argument that is not part of the diff. */
export function approvalContent(
  request: ApprovalRequestedEvent,
  folder: string,
  sessionId: string,
): ApprovalContent {
  const { diff } = request;
  const whole = approvalText(request);
  if (request.limit !== undefined) return { content: [textContent(whole)], isWhole: true };
  const { length } = whole;
  if (length > maxCharacters) {
    const words = `This call is ${length} characters long, but an editor shows at most ${maxCharacters}, so you can only deny it here. To see the whole call: cobbler sessions export ${sessionId}`;
    return { content: [textContent(words)], isWhole: false };
  }
  const native = diff === undefined ? [] : diffContent(diff, folder);
  // Use the editor's diff only if it can display the diff and every character in it is visible.
  const isClear = native.length > 0 && diff !== undefined && visibleText(diff) === diff;
  const { diff: _, ...bare } = request;
  const text = diff === undefined || isClear ? [] : visibleText(diff, 'diff').trimEnd().split('\n');
  const why = request.mustAsk === undefined ? [] : [visibleText(request.mustAsk, 'name')];
  const lines = [...argumentLines(isClear ? request : bare), ...text];
  return {
    content: [...blockOf(why), ...(isClear ? native : []), ...blockOf(lines)],
    isWhole: true,
  };
}

function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** Wraps lines in a Markdown code block that the lines cannot close. */
function blockOf(lines: readonly string[]): ToolCallContent[] {
  if (lines.length === 0) return [];
  const text = lines.join('\n');
  const maxRun = [...text.matchAll(/`+/g)].reduce((max, [run]) => Math.max(max, run.length), 2);
  const fence = '`'.repeat(maxRun + 1);
  return [textContent(`${fence}\n${text}\n${fence}`)];
}

import type { PermissionOption, RequestPermissionOutcome, ToolCallContent } from '@agentclientprotocol/sdk';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText, argumentLines, visibleText } from '@cobbler/agent/events';
import type { RuledCall } from '../config/permission-rule.ts';
import { ruleToOffer, widerRule } from '../config/permission-rule.ts';
import { diffContent } from './tool-view.ts';

/** A user's decision about a call. */
export type PermissionChoice =
  | { readonly type: 'allow'; readonly rule?: string }
  | { readonly type: 'deny' }
  | { readonly type: 'cancel' };

const always = 'always ';

/**
 * The choices offered to the user, the narrowest rule first. The id of an "always" is the rule to store. A call that
 * the editor does not show completely can only be denied.
 */
export function permissionOptions(call: RuledCall, isWhole: boolean): PermissionOption[] {
  const deny: PermissionOption = { optionId: 'deny', name: 'Deny', kind: 'reject_once' };
  if (!isWhole) return [deny];
  const rules = [ruleToOffer(call), widerRule(call)].filter((rule) => rule !== undefined);
  return [
    { optionId: 'allow', name: 'Allow', kind: 'allow_once' },
    ...rules.map((rule): PermissionOption => {
      return { optionId: always + rule, name: `Always allow ${rule}`, kind: 'allow_always' };
    }),
    deny,
  ];
}

/** The decision for a chosen option. An option that was not offered denies. */
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

/** The text of a call that an editor shows; `isWhole` is false if it is cut. */
interface ApprovalContent {
  readonly content: ToolCallContent[];
  readonly isWhole: boolean;
}

/** Longest call that a dialog of an editor is trusted to show, in characters. */
const maxCharacters = 32_768;

/** All of a call: the diff as the editor draws it, and every argument that is not in it. */
export function approvalContent(
  request: ApprovalRequestedEvent,
  folder: string,
  sessionId: string,
): ApprovalContent {
  const { diff } = request;
  const { length } = approvalText(request);
  if (length > maxCharacters) {
    const words = `This call has ${length} characters, more than the ${maxCharacters} that an editor shows, so it can only be denied here. Show all of it: cobbler sessions export ${sessionId}`;
    return { content: [textContent(words)], isWhole: false };
  }
  const drawn = diff === undefined ? [] : diffContent(diff, folder);
  // No argument is left to a diff that the editor cannot draw, or in which characters cannot be seen.
  const isClear = drawn.length > 0 && diff !== undefined && visibleText(diff) === diff;
  const { diff: _, ...bare } = request;
  const lines = argumentLines(isClear ? request : bare);
  return { content: [...drawn, ...(lines.length === 0 ? [] : [textContent(fenced(lines))])], isWhole: true };
}

function textContent(text: string): ToolCallContent {
  return { type: 'content', content: { type: 'text', text } };
}

/** Editors read markdown: a call must not end its code block. */
function fenced(lines: readonly string[]): string {
  const text = lines.join('\n');
  const longest = [...text.matchAll(/`+/g)].reduce((most, [run]) => Math.max(most, run.length), 2);
  const fence = '`'.repeat(longest + 1);
  return `${fence}\n${text}\n${fence}`;
}

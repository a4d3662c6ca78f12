import type { ToolCallContent } from '@agentclientprotocol/sdk';
import type { ApprovalRequestedEvent } from '@cobbler/agent/events';
import { approvalText, argumentLines, visibleText } from '@cobbler/agent/events';
import { diffContent } from './tool-view.ts';

/** The text of a call that an editor shows; `isWhole` is false if it is cut. */
export interface ApprovalContent {
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

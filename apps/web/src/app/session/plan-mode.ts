import type { UserPart } from '@cobbler/agent';
import type { CallItem, ConversationItem } from '@cobbler/agent/events';

const noteStart = '<attachment name="plan mode';

const words = {
  on: '">\nPlan mode: until the user approves a plan, nothing may change, and only tools that read work. Find out what you need to know, then present a plan with present_plan. Without that tool, end with the plan as your answer.',
  off: ' ended">\nThe user has ended plan mode.',
};

/** Returns a message with what the model does not know yet about plan mode, as a chat in the terminal tells it. */
export function withPlanNote(
  content: readonly UserPart[],
  items: readonly ConversationItem[],
  isOn: boolean,
): readonly UserPart[] {
  // A message that is sent again may contain the note of another time.
  const rest = content.filter((part) => !isNote(part));
  if (isOn === knows(items)) return rest;
  // The title of a session is the beginning of its first text.
  return [...rest, { type: 'text', text: `${noteStart}${isOn ? words.on : words.off}\n</attachment>` }];
}

/** True if plan mode is on as far as the model knows: it was told so, and no plan was approved since. */
function knows(items: readonly ConversationItem[]): boolean {
  for (const item of items.toReversed()) {
    if (item.kind === 'response' && item.calls.some(isApprovedPlan)) return false;
    const note = item.kind === 'user' ? item.message.content.findLast(isNote) : undefined;
    if (note?.type === 'text') return note.text.startsWith(noteStart + words.on);
  }
  return false;
}

function isApprovedPlan({ part, report }: CallItem): boolean {
  return part.toolName === 'present_plan' && report?.isError === false;
}

function isNote(part: UserPart): boolean {
  return part.type === 'text' && part.text.startsWith(noteStart);
}

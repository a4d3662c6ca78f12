import type { UserPart } from '@cobbler/agent';
import type { ConversationItem } from '@cobbler/agent/events';

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
  const known = items.flatMap((item) => (item.kind === 'user' ? item.message.content.filter(isNote) : [])).at(-1);
  const wasOn = known?.type === 'text' && known.text.startsWith(noteStart + words.on);
  // A message that is sent again may contain the note of another time.
  const rest = content.filter((part) => !isNote(part));
  if (isOn === wasOn) return rest;
  return [{ type: 'text', text: `${noteStart}${isOn ? words.on : words.off}\n</attachment>` }, ...rest];
}

function isNote(part: UserPart): boolean {
  return part.type === 'text' && part.text.startsWith(noteStart);
}

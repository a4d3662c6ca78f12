import type { UserPart } from '@cobbler/agent';
import type { CallItem, ConversationItem } from '@cobbler/agent/events';
import { resultText } from './call-text.ts';

/** An item of the model's to-do list. */
export interface Todo {
  readonly text: string;
  readonly status: 'open' | 'active' | 'done';
}

const noteStart = '<attachment name="to-do list">';

const boxes = { open: '[ ] ', active: '[>] ', done: '[x] ' } as const;

/** Returns the to-do list: the result of the last call of `update_todos`, or what the user sent after it. */
export function todosIn(items: readonly ConversationItem[]): readonly Todo[] {
  const lists = items.flatMap((item) => {
    if (item.kind === 'response') return item.calls.flatMap(listIn);
    if (item.kind !== 'user') return [];
    return item.message.content.flatMap((part) =>
      part.type === 'text' && part.text.startsWith(noteStart) ? part.text : [],
    );
  });
  return (lists.at(-1) ?? '').split('\n').flatMap(todoOf);
}

function listIn(call: CallItem): string | readonly string[] {
  return call.part.toolName === 'update_todos' && call.report?.isError === false ? resultText(call) : [];
}

function todoOf(line: string): readonly Todo[] {
  const status = (['open', 'active', 'done'] as const).find((one) => line.startsWith(boxes[one]));
  return status === undefined ? [] : [{ text: line.slice(4), status }];
}

/** Returns the part of a message that tells the model about the user's changes, as a chat in the terminal does. */
export function todosNote(todos: readonly Todo[]): UserPart {
  const list = todos.map(({ text, status }) => boxes[status] + text.trim().replace(/\s+/g, ' ')).join('\n');
  const words = `The user changed your to-do list. Continue with this one:\n${list}`;
  return { type: 'text', text: `${noteStart}\n${words}\n</attachment>` };
}

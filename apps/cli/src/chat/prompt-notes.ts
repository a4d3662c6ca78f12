import type { Event, UserPart } from '@cobbler/agent';
import type { Todo } from '@cobbler/tools/planning';
import { readTodos, todoLines, todosToolName } from '@cobbler/tools/planning';
import { planWords } from '../config/system-prompt.ts';
import type { Permission } from '../permissions/permission.ts';

/** What the user changed between two prompts, for the next one: the model must learn it. */
export class PromptNotes {
  readonly #permission: Permission | undefined;
  #knowsPlanMode: boolean;
  #todos: readonly Todo[] | undefined;

  /** @param permission absent on a server, which decides its mode itself. */
  constructor(permission: Permission | undefined) {
    this.#permission = permission;
    this.#knowsPlanMode = permission?.mode === 'plan';
  }

  /** Returns the to-do list: the user's, if the model has not received it yet, otherwise that of the log. */
  todos(events: readonly Event[]): readonly Todo[] {
    if (this.#todos !== undefined) return this.#todos;
    const last = events.findLast((event) => event.type === 'tool_result' && event.toolName === todosToolName);
    if (last?.type !== 'tool_result' || last.isError) return [];
    return readTodos(last.content.map((part) => (part.type === 'text' ? part.text : '')).join('\n'));
  }

  /** Replaces the to-do list. */
  change(todos: readonly Todo[]): void {
    this.#todos = todos;
  }

  /** Returns the notes since the last call as parts of a prompt. */
  take(): UserPart[] {
    const notes: UserPart[] = [];
    const isPlanMode = this.#permission?.mode === 'plan';
    if (isPlanMode !== this.#knowsPlanMode) {
      notes.push(
        isPlanMode ? note('plan mode', planWords) : note('plan mode ended', 'The user has ended plan mode.'),
      );
      this.#knowsPlanMode = isPlanMode;
    }
    if (this.#todos !== undefined) {
      const list = todoLines(this.#todos).join('\n');
      notes.push(note('to-do list', `The user changed your to-do list. Continue with this one:\n${list}`));
      this.#todos = undefined;
    }
    return notes;
  }
}

function note(name: string, text: string): UserPart {
  return { type: 'text', text: `<attachment name="${name}">\n${text}\n</attachment>` };
}

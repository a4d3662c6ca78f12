import type { Todo } from '@cobbler/tools/planning';
import { todoLines } from '@cobbler/tools/planning';
import { oneLine } from '../terminal/one-line.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { localParts } from './host.ts';
import type { CommandContext } from './slash-command.ts';

/** Turns plan mode on or off. */
export function plan({ host, say, style }: CommandContext, operand: string): void {
  const { permission } = localParts(
    host,
    'decides which calls are allowed',
    'other rules: cobbler serve --allow RULE',
  );
  if (operand !== '' && operand !== 'off')
    throw new UsageError(`/plan takes "off" or nothing, not ${JSON.stringify(operand)}.`);
  if (operand === 'off') permission.endPlan();
  else permission.mode = 'plan';
  say([
    style.dim(
      permission.mode === 'plan'
        ? 'nothing will change until you approve a plan; describe the task'
        : `plan mode is off; the mode is ${permission.mode}`,
    ),
  ]);
}

/** Shows the to-do list of the model, or changes it. */
export async function todo(
  { host, conversation, notes, say, style }: CommandContext,
  operand: string,
): Promise<void> {
  const todos = notes.todos(await host.past(conversation.harness.sessionId));
  if (operand !== '') notes.change(changed(todos, operand));
  const lines = todoLines(operand === '' ? todos : notes.todos([]));
  say(lines.map((line, index) => `  ${style.dim(String(index + 1).padStart(2))} ${oneLine(line)}`));
  if (lines.length === 0) say([style.dim('The model keeps no to-do list in this session.')]);
  if (operand !== '') say([style.dim('the model will receive this list with your next message')]);
}

function changed(todos: readonly Todo[], operand: string): readonly Todo[] {
  const [verb = '', ...rest] = operand.split(/\s+/);
  const text = rest.join(' ');
  if (verb === 'add' && text !== '') return [...todos, { text, status: 'open' }];
  const at = Number(text) - 1;
  if ((verb !== 'done' && verb !== 'drop') || text === '')
    throw new UsageError(
      `/todo does not understand ${JSON.stringify(operand)}.`,
      'For example: /todo add TEXT, /todo done 2, /todo drop 2',
    );
  if (todos[at] === undefined)
    throw new UsageError(`The list has no item ${JSON.stringify(text)}.`, 'To list the items: /todo');
  return verb === 'drop'
    ? todos.toSpliced(at, 1)
    : todos.map((one, index) => (index === at ? { ...one, status: 'done' } : one));
}

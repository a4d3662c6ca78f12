import type { JsonObject, Tool } from '@cobbler/agent';
import { defineTool, toolOutput } from '@cobbler/agent';
import { listOf, oneOf, read, record, text } from '@cobbler/agent/input';

/** The name of the tool with which a model keeps its to-do list. */
export const todosToolName = 'update_todos';

/** An item of the model's to-do list. */
export interface Todo {
  /** One line. */
  readonly text: string;
  readonly status: 'open' | 'active' | 'done';
}

/** Arguments of update_todos: the whole list, which replaces the one before. */
export interface UpdateTodosArgs {
  readonly todos: readonly Todo[];
}

const statuses = ['open', 'active', 'done'] as const;

const boxes = { open: '[ ]', active: '[>]', done: '[x]' } as const;

const parameters: JsonObject = {
  type: 'object',
  properties: {
    todos: {
      type: 'array',
      maxItems: 50,
      items: {
        type: 'object',
        properties: {
          text: { type: 'string', minLength: 1, maxLength: 300, description: 'One line.' },
          status: { type: 'string', enum: [...statuses] },
        },
        required: ['text', 'status'],
        additionalProperties: false,
      },
    },
  },
  required: ['todos'],
  additionalProperties: false,
};

/** Creates update_todos, with which the model keeps a to-do list that users see. The list is the result of its last call. */
export function todosTool(): Tool {
  return defineTool<UpdateTodosArgs>({
    name: todosToolName,
    description:
      'Replaces your to-do list, which the user sees. Use it for work of three or more steps, not for simple tasks: list ' +
      'the steps before you start, keep one of them "active", and mark each as "done" as soon as it is.',
    parameters,
    effect: 'read',
    subject: ({ todos }) => todos.find(({ status }) => status === 'active')?.text ?? '',
    execute: ({ todos }) => {
      const done = todos.filter(({ status }) => status === 'done').length;
      return toolOutput({ content: todoLines(todos).join('\n'), summary: `${done}/${todos.length}` });
    },
  });
}

const readTodoList = listOf(record<Todo>({ text, status: oneOf(...statuses) }, ['text', 'status']));

/** Formats a list as in the result of update_todos: a line such as `[x] Run the tests` for each item. */
export function todoLines(todos: readonly Todo[]): string[] {
  return read(todos, readTodoList, 'todos').map(
    ({ text, status }) => `${boxes[status]} ${text.trim().replace(/\s+/g, ' ')}`,
  );
}

/** Reads a list from the result of update_todos. Other lines are ignored. */
export function readTodos(result: string): Todo[] {
  return read(result, text, 'result')
    .split('\n')
    .flatMap((line) => {
      const status = statuses.find((one) => line.startsWith(`${boxes[one]} `));
      return status === undefined ? [] : [{ text: line.slice(4), status }];
    });
}

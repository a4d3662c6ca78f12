/**
 * Tools with which a model plans: a to-do list that users see, and plans that they approve.
 *
 * @module
 */

export { type PresentPlanArgs, planTool, planToolName } from './plan.ts';
export { readTodos, type Todo, todoLines, todosTool, todosToolName, type UpdateTodosArgs } from './todos.ts';

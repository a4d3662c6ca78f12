/**
 * Tools with which a model plans: a to-do list that users see, and plans that they approve.
 *
 * @module
 */

export { type PresentPlanArgs, planTool } from './plan.ts';
export { readTodos, type Todo, todoLines, todosTool, type UpdateTodosArgs } from './todos.ts';

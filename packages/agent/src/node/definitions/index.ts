/**
 * Skills, commands and agents that people keep as Markdown files in directories such as `.agents`, and agents that are folders.
 * Requires Node.
 *
 * @module
 */

export { type DefinitionPlace, definitionPlaces, type PlacesOptions } from '../definition-places.ts';
export {
  type AgentFolder,
  type LoadAgentOptions,
  loadAgent,
  readAgentFolder,
} from './agent-folder.ts';
export type { ChannelDefinition, ModuleDefinition, TelegramDefinition } from './channels.ts';
export type {
  AgentDefinition,
  CommandDefinition,
  Definition,
  DefinitionList,
  SkillDefinition,
} from './definition.ts';
export type { EvalCase, EvalDefinition } from './evals.ts';
export { expandCommand } from './expand-command.ts';
export type { ImportModule, UnusedFile } from './folder-tools.ts';
export { type FrontMatter, readFrontMatter } from './front-matter.ts';
export { readAgentDefinitions, readCommands, readSkills } from './read-definitions.ts';
export type { ScheduleDefinition } from './schedules.ts';
export { skillTool } from './skill-tool.ts';

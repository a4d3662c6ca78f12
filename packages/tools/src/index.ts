/**
 * Tools for one directory: read, write, edit, list, search and run.
 *
 * @module
 */

export { Workspace } from '@cobbler/agent/node';
export {
  type CommandLine,
  type CommandOperator,
  type CommandStep,
  printCommandLine,
  readCommandLine,
} from '@cobbler/agent/sandbox';
export {
  type BackgroundCommand,
  BackgroundCommands,
  type BackgroundOptions,
  type BackgroundStart,
  type WaitOptions,
} from './background/background-commands.ts';
export { type BackgroundCommandArgs, backgroundTool } from './background/background-tool.ts';
export type { CommandSandbox } from './command-sandbox.ts';
export { type EditFileArgs, editFile } from './edit-file.ts';
export { type ListFilesArgs, listFiles } from './list-files.ts';
export { type ReadFileArgs, readFile } from './read-file.ts';
export { type RunCommandArgs, type RunCommandOptions, runCommand } from './run-command.ts';
export { type SearchFilesArgs, type SearchOptions, searchFiles } from './search-files.ts';
export { agentFiles } from './workspace/file-tool.ts';
export { type WorkspaceToolsOptions, workspaceTools } from './workspace-tools.ts';
export { type WriteFileArgs, writeFile } from './write-file.ts';

import type { Tool } from '@cobbler/agent';
import { listOf, read, record, text } from '@cobbler/agent/input';
import { Workspace } from '@cobbler/agent/node';
import { backgroundTool } from './background/background-tool.ts';
import { editFile } from './edit-file.ts';
import { listFiles } from './list-files.ts';
import { readFile } from './read-file.ts';
import type { RunCommandOptions } from './run-command.ts';
import { commandReaders, runCommand } from './run-command.ts';
import type { SearchOptions } from './search-files.ts';
import { searchFiles, searchReaders } from './search-files.ts';
import { writeFile } from './write-file.ts';

/** The directory of the tools, and their limits. */
export interface WorkspaceToolsOptions extends RunCommandOptions, SearchOptions {
  /** The directory that the tools are restricted to. */
  readonly root: string;
  /** Guarded paths, relative to `root`, that can be written without approval. Default: none. */
  readonly allowGuarded?: readonly string[];
}

const readOptions = record<WorkspaceToolsOptions>(
  { ...commandReaders, ...searchReaders, root: text, allowGuarded: listOf(text) },
  ['root'],
);

/**
 * Creates all tools for one directory: read_file, write_file, edit_file, list_files, search_files, run_command, and
 * background_command with the `background` option. Each can also be created alone, from a {@link Workspace}.
 * @throws AgentError `invalid` for an invalid option, or if `root` is not a directory.
 */
export function workspaceTools(options: WorkspaceToolsOptions): Tool[] {
  const given = read(options, readOptions);
  const { environment: env = process.env, allowGuarded = [] } = given;
  const workspace = new Workspace(given.root, { env, allowGuarded });
  return [
    readFile(workspace),
    writeFile(workspace),
    editFile(workspace),
    listFiles(workspace),
    searchFiles(workspace, given),
    runCommand(workspace, given),
    ...(given.background === undefined ? [] : [backgroundTool(given.background)]),
  ];
}

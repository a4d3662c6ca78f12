import type { Hook } from '@cobbler/agent';
import type { CommandDefinition } from '@cobbler/agent/definitions';
import { noRestrictions } from '@cobbler/agent/sandbox';
import type { RunFlags } from '../config/run-flags.ts';
import { sandboxIn } from '../config/sandbox.ts';
import type { Io } from '../terminal/io.ts';
import type { Definitions } from './found-definitions.ts';
import { ownCommands } from './own-commands.ts';
import { mayHaveHooks, placesFor } from './places.ts';

/**
 * Returns the definitions that may be used in a directory. What a project contains is from an unknown author: in a terminal,
 * the user is asked once about everything new or changed (`asks`). Otherwise, it is not used, and a line says so. An agent in
 * a folder that the user named has its own instead, and its tools.
 */
export async function definitionsIn(
  folder: string,
  { contextFiles, agentFolder }: Pick<RunFlags, 'contextFiles' | 'agentFolder'>,
  io: Io,
  asks: boolean,
): Promise<Definitions> {
  if (agentFolder !== undefined)
    return { tools: agentFolder.options.tools, commands: [], agents: agentFolder.agents, hooks: [] };
  const { project, user } = placesFor(folder, io.env);
  // Most directories have none, and then the readers are not loaded.
  if (project.length + user.length === 0 && !(await mayHaveHooks(folder, io.env)))
    return { tools: [], commands: ownCommands, agents: [], hooks: [] };
  return await (await import('./found-definitions.ts')).loadDefinitions(folder, contextFiles, io, asks);
}

/** Returns the hooks of a run. Those of a project run in the sandbox of its commands, also if the run has no commands. */
export async function hooksFor(
  { hooks }: Pick<Definitions, 'hooks'>,
  folder: string,
  { tools: _, ...flags }: RunFlags,
  io: Io,
): Promise<readonly Hook[]> {
  if (hooks.length === 0) return [];
  const root = hooks.find(({ project }) => project !== undefined)?.project;
  const sandbox = root === undefined ? noRestrictions('off') : await sandboxIn(root, flags, io);
  return (await import('./command-hooks.ts')).commandHooks(hooks, { folder, env: io.env, sandbox });
}

/** Returns the prompt for a line `/name arguments`; the line itself if there is no such command. */
export async function expandLine(line: string, commands: readonly CommandDefinition[]): Promise<string> {
  const [, name, given = ''] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(line.trim()) ?? [];
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return line;
  return (await import('@cobbler/agent/definitions')).expandCommand(command, given);
}

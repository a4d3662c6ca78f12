import type { CommandDefinition } from '@cobbler/agent/definitions';
import type { RunFlags } from '../config/run-flags.ts';
import type { Io } from '../terminal/io.ts';
import type { Definitions } from './found-definitions.ts';
import { ownCommands } from './own-commands.ts';
import { placesFor } from './places.ts';

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
    return { tools: agentFolder.options.tools, commands: [], agents: agentFolder.agents };
  const { project, user } = placesFor(folder, io.env);
  // Most directories have none, and then the readers are not loaded.
  if (project.length + user.length === 0) return { tools: [], commands: ownCommands, agents: [] };
  return await (await import('./found-definitions.ts')).loadDefinitions(folder, contextFiles, io, asks);
}

/** Returns the prompt for a line `/name arguments`; the line itself if there is no such command. */
export async function expandLine(line: string, commands: readonly CommandDefinition[]): Promise<string> {
  const [, name, given = ''] = /^\/(\S+)(?:\s+([\s\S]*))?$/.exec(line.trim()) ?? [];
  const command = commands.find((one) => one.name === name);
  if (command === undefined) return line;
  return (await import('@cobbler/agent/definitions')).expandCommand(command, given);
}

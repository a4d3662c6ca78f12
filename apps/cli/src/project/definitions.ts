import type { CommandDefinition } from '@cobbler/agent/definitions';
import type { Io } from '../terminal/io.ts';
import type { Definitions } from './found-definitions.ts';
import { ownCommands } from './own-commands.ts';
import { placesFor } from './places.ts';

/**
 * Returns the definitions that may be used in a directory. What a project contains is from an unknown author: in a terminal,
 * the user is asked once about everything new or changed (`asks`). Otherwise, it is not used, and a line says so.
 */
export async function definitionsIn(
  folder: string,
  contextFiles: boolean,
  io: Io,
  asks: boolean,
): Promise<Definitions> {
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

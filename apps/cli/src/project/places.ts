import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { definitionPlaces, loadConfig } from '@cobbler/agent/node';
import { projectRoot } from '../config/instructions.ts';
import type { Environment } from '../terminal/io.ts';

/** The directories of this program and of others. */
const names = ['.cobbler', '.agents', '.claude', '.opencode', '.config/opencode'];

/** Returns the directories that can contain skills, commands and agents for a working directory. */
export function placesFor(folder: string, env: Environment): ReturnType<typeof definitionPlaces> {
  return definitionPlaces({ folder, root: projectRoot(folder), names, env });
}

/** The files of a project that can contain hooks. */
export const hookFiles: readonly string[] = ['.cobbler/hooks.json', '.claude/settings.json'];

/** Returns whether the project or the user's configuration may have hooks. */
export async function mayHaveHooks(folder: string, env: Environment): Promise<boolean> {
  const root = projectRoot(folder);
  if (hookFiles.some((name) => existsSync(join(root, name)))) return true;
  return (await loadConfig({ env })).values.hooks !== undefined;
}

import { definitionPlaces } from '@cobbler/agent/node';
import { projectRoot } from '../config/instructions.ts';
import type { Environment } from '../terminal/io.ts';

/** The directories of this program and of others. */
const names = ['.cobbler', '.agents', '.claude', '.opencode', '.config/opencode'];

/** Returns the directories that can contain skills, commands and agents for a working directory. */
export function placesFor(folder: string, env: Environment): ReturnType<typeof definitionPlaces> {
  return definitionPlaces({ folder, root: projectRoot(folder), names, env });
}

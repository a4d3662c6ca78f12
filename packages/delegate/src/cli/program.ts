import { accessSync, constants, realpathSync, statSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';
import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { mapOf, read, text } from '@cobbler/agent/input';

/**
 * Returns the location of a program on the PATH; undefined if it is not found.
 * @throws AgentError `invalid` for a name or a variable that is not a string.
 */
export function findProgram(name: string, env: Environment): string | undefined {
  read(name, text, 'name');
  const { PATH = '' } = read(env, mapOf(text), 'env');
  if (isAbsolute(name)) return isProgram(name) ? name : undefined;
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder));
  return folders.map((folder) => join(folder, name)).find(isProgram);
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** Returns the error for a missing program, with a fixed message. */
export function notFound(program: string): AgentError {
  return new AgentError({ kind: 'tool', code: 'no_program', message: `${program} CLI not found in PATH` });
}

/**
 * Returns the real path of a program.
 * @throws AgentError `tool` if it does not exist.
 */
export function realProgram(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    const message = `${path} could not be started: it was not found.`;
    throw new AgentError({ kind: 'tool', code: 'no_program', message });
  }
}

/**
 * Returns the real path of a working directory.
 * @throws AgentError `tool` if it is not a directory.
 */
export function realFolder(path: string): string {
  try {
    const real = realpathSync(path);
    if (statSync(real).isDirectory()) return real;
  } catch {
    // Reported below.
  }
  throw new AgentError({
    kind: 'tool',
    code: 'no_folder',
    message: 'The working directory does not exist or is not a directory.',
  });
}

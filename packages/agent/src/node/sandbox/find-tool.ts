import { accessSync, constants } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** Finds a program of the system; those of the PATH come last, because a project can add to it. */
export function findTool(
  name: string,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const onPath = (env['PATH'] ?? '').split(delimiter).filter((directory) => isAbsolute(directory));
  return ['/usr/bin', '/bin', '/usr/local/bin', ...onPath]
    .map((directory) => join(directory, name))
    .find((path) => {
      try {
        accessSync(path, constants.X_OK);
        return true;
      } catch {
        return false;
      }
    });
}

import { UsageError } from '../terminal/usage-error.ts';

/** The oldest supported version of Node. `engines` in package.json says the same, but npm only warns about it. */
export const oldestNode = '22.18';

/** Checks the version of Node, before an older one fails in another place. @throws UsageError for an older version. */
export function checkNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor = 0, minMinor = 0] = oldestNode.split('.').map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return;
  throw new UsageError(
    `this is Node ${version}, but ${oldestNode} or later is required.`,
    'Install a newer version or, if you already have one, put its directory first on the PATH.',
  );
}

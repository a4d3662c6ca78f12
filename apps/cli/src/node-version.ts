import { UsageError } from './terminal/usage-error.ts';

/** The oldest Node that has all that is used here; `engines` of package.json says the same, which npm only warns of. */
export const oldestNode = '22.18';

/** @throws UsageError for an older Node, in the place of whatever it would trip over first. */
export function checkNode(version: string): void {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  const [minMajor = 0, minMinor = 0] = oldestNode.split('.').map(Number);
  if (major > minMajor || (major === minMajor && minor >= minMinor)) return;
  throw new UsageError(
    `this is Node ${version}, but ${oldestNode} or later is required.`,
    'Install a newer version, or put it first on the PATH.',
  );
}

const noNetwork =
  /ENETUNREACH|EAI_AGAIN|ENOTFOUND|network is unreachable|could(?:n't| not) resolve|name resolution|name or service not known|no address associated/i;
const noWrite = /EROFS|read-only file system/i;
const busy = /EBUSY|device or resource busy/i;
const noProcess = /can(?:no|')t fork|fork: retry|spawn.*EAGAIN|resource temporarily unavailable/i;

/**
 * Returns which rule of the sandbox probably stopped a program that printed this; undefined if none did. The system
 * reports the same errors for other reasons too.
 */
export function explainRefusal(output: string, workspace: string, hasNetwork: boolean): string | undefined {
  const lines = output.split('\n');
  const find = (pattern: RegExp) => lines.findLast((line) => pattern.test(line));
  if (!hasNetwork && find(noNetwork) !== undefined) return 'The sandbox has no network.';
  const written = find(noWrite);
  if (written !== undefined) return writeRule(written, workspace);
  if (find(busy) !== undefined)
    return 'The sandbox does not let commands move or delete protected files or the directories that contain them.';
  return find(noProcess) === undefined ? undefined : 'The sandbox limits the number of processes.';
}

function writeRule(line: string, workspace: string): string {
  const [path] = /\/[^'"’`:\s]+/.exec(line) ?? [];
  if (/\.git\b/.test(line))
    return 'The sandbox protects .git. Only a command line of nothing but git commands such as git add and git commit can change it, and none can change its hooks and configuration.';
  if (path === undefined) return 'The sandbox lets commands write only in the workspace and in /tmp.';
  return path.startsWith(workspace)
    ? `The sandbox protects ${path}: other programs execute or obey it.`
    : `The sandbox lets commands write only in the workspace and in /tmp, not to ${path}.`;
}

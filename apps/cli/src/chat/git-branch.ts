import { readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';

/** The branch that a folder's repository is on, without asking git; nothing outside of one. */
export function gitBranch(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    const branch = branchOf(join(at, '.git'), at);
    if (branch !== undefined) return branch;
    if (dirname(at) === at) return undefined;
  }
}

function branchOf(path: string, folder: string): string | undefined {
  try {
    const isFolder = statSync(path).isDirectory();
    // A worktree has a file that says where its repository is.
    const home = isFolder
      ? path
      : resolve(
          folder,
          readFileSync(path, 'utf8')
            .replace(/^gitdir: /, '')
            .trim(),
        );
    const head = readFileSync(join(home, 'HEAD'), 'utf8').trim();
    return /^ref: refs\/heads\/(.+)$/.exec(head)?.[1] ?? head.slice(0, 8);
  } catch {
    return undefined;
  }
}

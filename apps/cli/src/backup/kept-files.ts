import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { isDatabase } from '@cobbler/agent/node';

/** Files that can be recreated or matter only to a running process. Paths relative to the home directory. */
const passing =
  /^(compiled|processes)\/|^server\.json$|^address$|(^|\/)(lock\.db|part-[^/]*)$|-(wal|shm|journal|made)$|-owner-[^/]*$/;

/** A file of a home that is worth a copy. */
export interface KeptFile {
  /** From the home on, with slashes. */
  readonly name: string;
  readonly isDatabase: boolean;
}

/**
 * Everything of a home that outlives a process, in the order in which it has to be copied while it is in use: a journal
 * before what its steps write (a step that is not in the journal is done again, one that is in it never), and databases
 * before the files that they name. So a copy is a state that a crash could have left behind.
 */
export function keptFiles(home: string): KeptFile[] {
  const files = filesBelow(home, '')
    .filter((name) => !passing.test(name))
    .map((name) => ({ name, isDatabase: isDatabase(join(home, name)) }));
  const rank = (file: KeptFile) => (!file.isDatabase ? 2 : /(^|\/)runs\.db$/.test(file.name) ? 0 : 1);
  return files.sort((left, right) => rank(left) - rank(right) || (left.name < right.name ? -1 : 1));
}

/** Regular files only: no link is followed. */
function filesBelow(home: string, folder: string): string[] {
  return readdirSync(join(home, folder), { withFileTypes: true }).flatMap((entry) => {
    const name = folder === '' ? entry.name : `${folder}/${entry.name}`;
    if (entry.isDirectory()) return filesBelow(home, name);
    return entry.isFile() ? [name] : [];
  });
}

import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** Environment variable of every child, used to find a process that has left its group, session and parent. */
export const markName = 'COBBLER_PROCESS_TREE';

/** A running process. Zombies are not included. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** Start time in ticks since the machine started; 0 if the system does not report it. */
  readonly started: number;
}

/** Selects the processes to end: those that the root started, and those found in its tree earlier. */
export interface TreeQuery {
  readonly root: number;
  /** Start times of processes that belonged to the tree earlier, by id. */
  readonly known: ReadonlyMap<number, number>;
  /** Returns true if a process inherited the mark of the tree, wherever it has moved. */
  readonly isMarked: (entry: ProcessEntry) => boolean;
}

/**
 * Finds every process of a tree: the root, its process group, its session, all processes with its mark, and the
 * descendants of all these. Children that left the group are found through their parent while it is alive, so call this
 * before killing.
 */
export function processTree(table: readonly ProcessEntry[], query: TreeQuery): ProcessEntry[] {
  const { root, known } = query;
  const began = table.find((entry) => entry.pid === root)?.started ?? known.get(root) ?? 0;
  const children = Map.groupBy(table, (entry) => entry.parent);
  const found = new Map<number, ProcessEntry>();
  const add = (entry: ProcessEntry): void => {
    if (found.has(entry.pid)) return;
    found.set(entry.pid, entry);
    for (const child of children.get(entry.pid) ?? []) add(child);
  };
  for (const entry of table) {
    // A process older than the root cannot descend from it.
    if (entry.started < began) continue;
    const inTree = entry.pid === root || entry.group === root || entry.session === root;
    if (inTree || known.get(entry.pid) === entry.started || query.isMarked(entry)) add(entry);
  }
  return [...found.values()];
}

/** Returns all processes of this machine; empty if neither /proc nor ps is available. */
export function readProcessTable(): ProcessEntry[] {
  try {
    const ids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
    const entries = ids.flatMap((id) => readStat(id) ?? []);
    if (entries.length > 0) return entries;
  } catch {
    // No /proc: not Linux.
  }
  return readPs();
}

/** Returns one process if it is running and there is a /proc. Its start time distinguishes it from others with its id. */
export function readProcess(pid: number): ProcessEntry | undefined {
  return readStat(String(pid));
}

/** Returns whether a process was started with `name=value` in its environment. Works only on Linux. */
export function startedWith(pid: number, variable: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${variable}\0`);
  } catch {
    return false;
  }
}

/** Reads /proc/PID/stat. The name in parentheses can contain anything, so fields count from the last parenthesis (proc(5)). */
function readStat(id: string): ProcessEntry | undefined {
  try {
    const text = readFileSync(`/proc/${id}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    const number = (index: number) => Number(fields[index]);
    if (fields[0] === 'Z' || fields[0] === 'X') return undefined;
    return { pid: Number(id), parent: number(1), group: number(2), session: number(3), started: number(19) };
  } catch {
    return undefined;
  }
}

function readPs(): ProcessEntry[] {
  try {
    const columns = ['-A', '-o', 'pid=', '-o', 'ppid=', '-o', 'pgid=', '-o', 'stat='];
    const text = execFileSync('ps', columns, {
      encoding: 'utf8',
      timeout: 2000,
      stdio: ['ignore', 'pipe', 'ignore'],
    });
    return text.split('\n').flatMap((line) => {
      const [pid, parent, group, state] = line.trim().split(/\s+/);
      if (state === undefined || state.startsWith('Z')) return [];
      return [{ pid: Number(pid), parent: Number(parent), group: Number(group), session: 0, started: 0 }];
    });
  } catch {
    return [];
  }
}

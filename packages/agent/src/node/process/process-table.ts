import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';

/** In the environment of every child, so that a process which has left group, session and parent is found. */
export const markName = 'COBBLER_PROCESS_TREE';

/** One process that is running; those that only wait to be reaped are not. */
export interface ProcessEntry {
  readonly pid: number;
  readonly parent: number;
  readonly group: number;
  readonly session: number;
  /** When it started, in ticks since the machine did; 0 where the system does not tell. */
  readonly started: number;
}

/** The processes to end: what the root started, and what it has been seen to start before. */
export interface TreeQuery {
  readonly root: number;
  /** Processes that belonged to the tree earlier, by id, with their start. */
  readonly known: ReadonlyMap<number, number>;
  /** Recognises a process by what it inherited, wherever it has moved to. */
  readonly isMarked: (entry: ProcessEntry) => boolean;
}

/**
 * Finds every process of a tree: the root, its process group, its session, whatever carries its mark, and
 * the descendants of all these. Children that left the group are found by descent as long as their parent
 * lives, so look before killing.
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
    // Whatever is older than the root cannot have come from it.
    if (entry.started < began) continue;
    const inTree = entry.pid === root || entry.group === root || entry.session === root;
    if (inTree || known.get(entry.pid) === entry.started || query.isMarked(entry)) add(entry);
  }
  return [...found.values()];
}

/** All processes of this machine. Empty where neither /proc nor ps is there. */
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

/** One process, when it runs and the system has a /proc to tell; the start tells it from others of its number. */
export function readProcess(pid: number): ProcessEntry | undefined {
  return readStat(String(pid));
}

/** Whether the environment that a process was started with holds `name=value`. Only Linux can tell. */
export function startedWith(pid: number, variable: string): boolean {
  try {
    return `\0${readFileSync(`/proc/${pid}/environ`, 'latin1')}`.includes(`\0${variable}\0`);
  } catch {
    return false;
  }
}

/** /proc/PID/stat: the name in brackets may hold anything, so count from the last bracket (proc(5)). */
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

import { argumentError } from '../../values/errors.ts';
import type { Runtime } from '../../values/runtime.ts';
import { systemRuntime } from '../../values/runtime.ts';
import type { RecordedProcess } from './process-record.ts';
import { bootId, identityOf, ProcessRecords, setRecords } from './process-record.ts';
import type { ProcessEntry } from './process-table.ts';
import { markName, processTree, readProcessTable, startedWith } from './process-table.ts';

/** Time from SIGTERM to SIGKILL, in milliseconds. */
const graceMs = 1500;

/** Time for which SIGKILL is repeated, in milliseconds. */
const killMs = 1000;

const lookMs = 25;

/** The processes left by a Cobbler process that has ended. */
export interface ReapedOrphans {
  /** Processes that were ended. */
  readonly ended: number;
  /** Processes that could not be ended and remain on record. */
  readonly left: number;
}

/**
 * Ends the processes that a killed Cobbler process left running: for each recorded child whose owner has ended, its
 * process group and session, all processes with its mark, and the descendants of all these. Never throws. Only Linux
 * reports enough about a process to identify it reliably; on other systems nothing is recorded.
 */
export async function reapOrphans(
  folder: string,
  runtime: Pick<Runtime, 'monotonic' | 'timer'> = systemRuntime,
): Promise<ReapedOrphans> {
  try {
    const records = new ProcessRecords(folder);
    const orphaned = records.all().filter(({ owner }) => identityOf(owner.pid)?.started !== owner.started);
    const counts = await Promise.all(
      orphaned.map(async (record) => {
        const found = record.boot === bootId() ? await endOrphan(record, runtime) : { ended: 0, left: 0 };
        if (found.left === 0) records.forget(record.mark);
        return found;
      }),
    );
    return counts.reduce((sum, { ended, left }) => ({ ended: sum.ended + ended, left: sum.left + left }), {
      ended: 0,
      left: 0,
    });
  } catch (thrown) {
    throw argumentError('reapOrphans', thrown);
  }
}

/**
 * Records every supervised child that this process starts from now on in the directory, and ends the processes that an
 * earlier, killed process left there. Pass the same directory at each start, such as `processes` in
 * {@link cobblerHome}.
 */
export function recordProcesses(folder: string): Promise<ReapedOrphans> {
  setRecords(new ProcessRecords(folder));
  return reapOrphans(folder);
}

async function endOrphan(
  record: RecordedProcess,
  runtime: Pick<Runtime, 'monotonic' | 'timer'>,
): Promise<ReapedOrphans> {
  const seen = new Map<number, number>();
  const look = () => membersOf(record, seen);
  if (look().length === 0) return { ended: 0, left: 0 };
  send(look(), 'SIGTERM');
  const began = runtime.monotonic();
  let members = look();
  while (members.length > 0 && runtime.monotonic() - began < graceMs + killMs) {
    await new Promise<void>((resolve) => void runtime.timer(lookMs, resolve));
    members = look();
    if (runtime.monotonic() - began > graceMs) send(members, 'SIGKILL');
  }
  return { ended: seen.size - members.length, left: members.length };
}

/** Remembers the members it finds, because one that loses its parent can leave the group later. */
function membersOf({ mark, child }: RecordedProcess, seen: Map<number, number>): ProcessEntry[] {
  const table = readProcessTable();
  const variable = `${markName}=${mark}`;
  const isMarked = ({ pid }: ProcessEntry) => startedWith(pid, variable);
  const holder = table.find(({ pid }) => pid === child?.pid);
  // The process id may have been reused, but not while the process group exists.
  const isOurs = child !== undefined && (holder === undefined || holder.started === child.started);
  const known = isOurs ? new Map([...seen, [child.pid, child.started] as const]) : seen;
  const members = processTree(table, { root: isOurs ? child.pid : -1, known, isMarked });
  const others = members.filter(({ pid }) => pid !== process.pid);
  for (const { pid, started } of others) seen.set(pid, started);
  return others;
}

function send(members: readonly ProcessEntry[], signal: NodeJS.Signals): void {
  for (const { pid } of members) {
    try {
      process.kill(pid, signal);
    } catch {
      // The process has ended in the meantime.
    }
  }
}

import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import type { Clock } from '../terminal/io.ts';

/** Milliseconds between two looks. A change is reported when two of them in a row see the same. */
const lookMs = 150;

/** Calls `changed` after files of a directory have changed. Returns a function that ends this. */
export type WatchFolder = (folder: string, changed: () => Promise<void>) => () => void;

/**
 * Returns a watcher that compares times and sizes, which works on every file system. A file that is still being written
 * is not reported yet.
 */
export function folderWatcher(clock: Pick<Clock, 'after'>): WatchFolder {
  return (folder, changed) => {
    let reported = stateOf(folder);
    let last = reported;
    let cancel: (() => void) | undefined;
    let isOver = false;
    const wait = () => {
      if (!isOver) cancel = clock.after(lookMs, () => void look());
    };
    const look = async () => {
      const now = stateOf(folder);
      const isWhole = now === last;
      last = now;
      if (isWhole && now !== reported) {
        reported = now;
        await changed();
      }
      wait();
    };
    wait();
    return () => {
      isOver = true;
      cancel?.();
    };
  };
}

function stateOf(folder: string): string {
  try {
    const entries = readdirSync(folder, { withFileTypes: true });
    const seen = entries.filter(({ name }) => !name.startsWith('.') && name !== 'node_modules');
    const parts = seen.map((entry) => {
      const path = join(folder, entry.name);
      if (entry.isDirectory()) return stateOf(path);
      const { mtimeMs, size } = statSync(path);
      return `${path} ${mtimeMs} ${size}`;
    });
    return [folder, ...parts].join('\n');
  } catch {
    // Something was removed meanwhile.
    return '';
  }
}

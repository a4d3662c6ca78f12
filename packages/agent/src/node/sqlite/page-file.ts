import { closeSync, existsSync, openSync, readFileSync, readSync, statSync } from 'node:fs';

const magic = 'SQLite format 3\0';
const defaultPageSize = 4096;
const walHeaderBytes = 32;
const frameHeaderBytes = 24;

/**
 * The pages of a database file and its write-ahead log, read without SQLite, which refuses a file whose first page is
 * damaged. The format: https://www.sqlite.org/fileformat2.html. Do not use this for a database that this process has
 * open: closing the file would release SQLite's locks on it.
 */
export class DatabasePages {
  readonly pageSize: number;
  /** Number of pages. Page numbers start at 1. */
  readonly count: number;
  readonly #descriptor: number;
  readonly #logged: ReadonlyMap<number, Buffer>;

  /** @throws the system's error if the file cannot be read. */
  constructor(file: string) {
    this.#descriptor = openSync(file, 'r');
    const head = Buffer.alloc(100);
    readSync(this.#descriptor, head, 0, head.length, 0);
    const size = head.readUInt16BE(16);
    const isPower = size >= 512 && (size & (size - 1)) === 0;
    this.pageSize = isDatabaseHead(head) && isPower ? size : defaultPageSize;
    this.#logged = loggedPages(`${file}-wal`, this.pageSize);
    const stored = Math.ceil(statSync(file).size / this.pageSize);
    this.count = Math.max(stored, ...this.#logged.keys());
  }

  /** Returns the last committed content of a page; zeros for a missing page. */
  page(number: number): Buffer {
    const logged = this.#logged.get(number);
    if (logged !== undefined) return logged;
    const page = Buffer.alloc(this.pageSize);
    if (number >= 1) readSync(this.#descriptor, page, 0, this.pageSize, (number - 1) * this.pageSize);
    return page;
  }

  /** Returns the numbers of the free pages, as far as the first page and the free list that it starts can be read. */
  free(): ReadonlySet<number> {
    const free = new Set<number>();
    const first = this.page(1);
    if (!isDatabaseHead(first)) return free;
    let trunk = first.readUInt32BE(32);
    while (trunk > 1 && trunk <= this.count && !free.has(trunk)) {
      free.add(trunk);
      const page = this.page(trunk);
      const length = Math.min(page.readUInt32BE(4), this.pageSize / 4 - 2);
      for (let at = 0; at < length; at += 1) free.add(page.readUInt32BE(8 + 4 * at));
      trunk = page.readUInt32BE(0);
    }
    return free;
  }

  close(): void {
    closeSync(this.#descriptor);
  }
}

function isDatabaseHead(page: Buffer): boolean {
  return page.toString('latin1', 0, magic.length) === magic;
}

/** Returns the pages in the write-ahead log, up to the last commit. */
function loggedPages(file: string, pageSize: number): ReadonlyMap<number, Buffer> {
  const pages = new Map<number, Buffer>();
  const log = existsSync(file) ? readFileSync(file) : Buffer.alloc(0);
  const frameBytes = frameHeaderBytes + pageSize;
  const waiting: [number, Buffer][] = [];
  for (let at = walHeaderBytes; at + frameBytes <= log.length; at += frameBytes) {
    // Frames that remain from before SQLite restarted the log have different salts.
    if (log.compare(log, 16, 24, at + 8, at + 16) !== 0) break;
    waiting.push([log.readUInt32BE(at), log.subarray(at + frameHeaderBytes, at + frameBytes)]);
    const isCommit = log.readUInt32BE(at + 4) > 0;
    if (isCommit) for (const [number, page] of waiting.splice(0)) pages.set(number, page);
  }
  return pages;
}

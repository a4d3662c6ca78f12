import type { KeyObject } from 'node:crypto';
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  fsyncSync,
  ftruncateSync,
  mkdirSync,
  openSync,
  readSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import type { DatabaseSync } from 'node:sqlite';
import type { AuditFact, AuditRecord } from '../../audit/record.ts';
import { firstPrev, headEvery, lineOf, readAuditLine } from '../../audit/record.ts';
import { read, text } from '../../values/input.ts';
import { sqlite } from '../sqlite/engine.ts';
import type { LastHead } from './head.ts';
import { digestOf, lastHead, noteHead, ownKey, publicKeyOf, signedLine } from './head.ts';
import type { AuditExpectation } from './verify.ts';

/** The files of an audit log, in the order in which a backup must copy them: the note about the last head first. */
const names = { anchor: 'anchor.json', log: 'audit.jsonl', key: 'key.pem', lock: 'lock.db' } as const;

/** Returns the path of the log in its directory. */
export function auditFile(folder: string): string {
  return join(read(folder, text, 'folder'), names.log);
}

/** Returns what the log of a directory must contain: the last head, signed with the key of the directory. */
export function auditExpectation(folder: string): AuditExpectation {
  const at = read(folder, text, 'folder');
  const hash = lastHead(join(at, names.anchor))?.hash;
  const key = join(at, names.key);
  return {
    anchors: hash === undefined ? [] : [hash],
    ...(existsSync(key) && { key: publicKeyOf(ownKey(key)) }),
  };
}

/** A fact with the fields that every record has. */
export type TimedFact = AuditFact & Pick<AuditRecord, 'time' | 'surface' | 'pid'>;

/** The end of the file. */
interface Tail {
  readonly size: number;
  readonly seq: number;
  readonly hash: string;
}

/** Number of bytes at the end of the file that contain its last record. */
const tailBytes = 65_536;

/** Maximum time to wait for another process that writes, in milliseconds; longer at the end. It blocks this process. */
const lockMs = 100;
const lastLockMs = 2000;

const noFollow = constants.O_NOFOLLOW ?? 0;

/** The file of an audit log. Several processes can append to it: one at a time, each after the last record. */
export class AuditFile {
  readonly #folder: string;
  readonly #onUnsynced: (error: unknown) => void;
  #lock: DatabaseSync | undefined;
  #key: KeyObject | undefined;
  #tail: Tail | undefined;
  /** A head in the file that `anchor.json` does not contain yet. */
  #unnoted: LastHead | undefined;

  /** @param onUnsynced called if records were written, but could not be synced. The next append tries again. */
  constructor(folder: string, onUnsynced: (error: unknown) => void) {
    this.#folder = folder;
    this.#onUnsynced = onUnsynced;
    mkdirSync(folder, { recursive: true, mode: 0o700 });
  }

  /**
   * Appends records, all or none. Records survive the end of the process; everything up to a signed head also survives a
   * power failure.
   * @throws the system's error.
   */
  append(facts: readonly TimedFact[], own: Omit<TimedFact, 'kind'>, isLast: boolean): void {
    this.#lock ??= openLock(this.#path('lock'));
    if (isLast) this.#lock.exec(`PRAGMA busy_timeout = ${lastLockMs}`);
    this.#lock.exec('BEGIN EXCLUSIVE');
    try {
      const flags = constants.O_RDWR | constants.O_APPEND | constants.O_CREAT | noFollow;
      const file = openSync(this.#path('log'), flags, 0o600);
      try {
        this.#appendTo(file, facts, own, isLast);
      } finally {
        closeSync(file);
      }
    } finally {
      this.#lock.exec('COMMIT');
    }
  }

  close(): void {
    this.#lock?.close();
    this.#lock = undefined;
  }

  #path(name: keyof typeof names): string {
    return join(this.#folder, names[name]);
  }

  #appendTo(file: number, facts: readonly TimedFact[], own: Omit<TimedFact, 'kind'>, isLast: boolean): void {
    const { size } = fstatSync(file);
    const found =
      this.#tail?.size === size ? { ...this.#tail, text: '', repairs: [] } : this.#inspect(file, size);
    let { seq, hash, text } = found;
    let head: LastHead | undefined;
    const add = (fact: object, sign: boolean) => {
      const record = { v: 1 as const, seq: seq + 1, ...own, ...fact, prev: hash };
      this.#key = sign ? (this.#key ?? ownKey(this.#path('key'))) : this.#key;
      const line = sign && this.#key ? signedLine(record, this.#key) : lineOf(record);
      [seq, hash] = [seq + 1, digestOf(line)];
      const start = size + text.length;
      text += `${line}\n`;
      if (sign) head = { seq, hash, start, end: start + line.length };
      else if ((seq + 1) % headEvery === 0) add({}, true);
    };
    for (const fact of [...found.repairs, ...facts]) add(fact, false);
    // A head after a repair: otherwise the next process would find the same gap again.
    if (isLast || found.repairs.length > 0) add({}, true);
    writeAll(file, size, text);
    this.#tail = { size: size + text.length, seq, hash };
    this.#unnoted = head ?? this.#unnoted;
    try {
      this.#sync(file);
    } catch (error) {
      this.#onUnsynced(error);
    }
  }

  #sync(file: number): void {
    if (this.#unnoted === undefined) return;
    fsyncSync(file);
    noteHead(this.#path('anchor'), this.#unnoted);
    this.#unnoted = undefined;
  }

  /** Finds the last record, what is missing at the end of the file, and what must be written before another record. */
  #inspect(file: number, size: number): Omit<Tail, 'size'> & { text: string; repairs: AuditFact[] } {
    const content = readAt(file, Math.max(0, size - tailBytes), size);
    const isEnded = content === '' || content.endsWith('\n');
    const lines = (isEnded ? content.slice(0, -1) : content).split('\n');
    const found = lines.findLastIndex((line) => readAuditLine(line) !== undefined);
    const last = lines[found] ?? '';
    const torn = found < lines.length - 1 ? lines.at(-1) : '';
    const noted = lastHead(this.#path('anchor'));
    // Another process may have noted a later head.
    if (this.#unnoted !== undefined && noted !== undefined && noted.seq > this.#unnoted.seq)
      this.#unnoted = undefined;
    const head = this.#unnoted ?? noted;
    const repairs: AuditFact[] = [];
    if (torn) repairs.push({ kind: 'torn', hash: digestOf(torn) });
    if (head !== undefined && digestOf(readAt(file, head.start, head.end)) !== head.hash)
      repairs.push({ kind: 'gap', missing: head.hash, head: head.seq });
    const seq = readAuditLine(last)?.seq ?? 0;
    return { seq, hash: seq === 0 ? firstPrev : digestOf(last), text: isEnded ? '' : '\n', repairs };
  }
}

/** SQLite releases its lock when the process ends, however it ends. */
function openLock(path: string): DatabaseSync {
  closeSync(openSync(path, 'a', 0o600));
  return new (sqlite().DatabaseSync)(path, { timeout: lockMs });
}

function readAt(file: number, start: number, end: number): string {
  const bytes = Buffer.alloc(Math.max(0, end - start));
  return bytes.toString('latin1', 0, readSync(file, bytes, 0, bytes.length, start));
}

/** Writes a text of ASCII at the end of the file, or nothing. */
function writeAll(file: number, size: number, text: string): void {
  try {
    const bytes = Buffer.from(text, 'latin1');
    for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done);
  } catch (error) {
    ftruncateSync(file, size);
    throw error;
  }
}

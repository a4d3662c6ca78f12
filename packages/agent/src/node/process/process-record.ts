import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../values/json.ts';
import { readProcess } from './process-table.ts';

/** Identifies one process, even if its id is reused. */
export interface ProcessIdentity {
  readonly pid: number;
  /** Start time, in ticks since the machine started. */
  readonly started: number;
}

/** The record of a child process: enough for another process to find it and the processes it started. */
export interface RecordedProcess {
  /** Value of an environment variable of the child and of every process it starts. */
  readonly mark: string;
  /** Identifies one boot of the machine, because process ids and ticks start again with each. */
  readonly boot: string;
  /** The Cobbler process that started the child. */
  readonly owner: ProcessIdentity;
  /** Undefined while the child is being started. */
  readonly child?: ProcessIdentity;
}

/** The record of a child that is being supervised. */
export interface ProcessRecord {
  started(pid: number): void;
  forget(): void;
}

/** A directory with a file per running child. A child whose file cannot be written runs, but is not found after a kill. */
export class ProcessRecords {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  begin(mark: string): ProcessRecord | undefined {
    const owner = identityOf(process.pid);
    if (owner === undefined) return undefined;
    const record: RecordedProcess = { mark, boot: bootId(), owner };
    this.#write(record);
    return {
      started: (pid) => {
        const child = identityOf(pid);
        if (child !== undefined) this.#write({ ...record, child });
      },
      forget: () => this.forget(mark),
    };
  }

  forget(mark: string): void {
    quietly(() => rmSync(this.#path(mark), { force: true }));
  }

  /** Returns all readable records. */
  all(): RecordedProcess[] {
    const names = quietly(() => readdirSync(this.#folder)) ?? [];
    return names.filter((name) => /^[0-9a-f-]{36}\.json$/.test(name)).flatMap((name) => this.#read(name));
  }

  #read(name: string): RecordedProcess[] {
    const data = quietly((): unknown => JSON.parse(readFileSync(join(this.#folder, name), 'utf8')));
    if (!isRecord(data) || `${data.mark}.json` !== name) return [];
    return [data];
  }

  /** Writes a temporary file and renames it, so that a reader never sees a partial record. */
  #write(record: RecordedProcess): void {
    quietly(() => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const temporaryPath = `${this.#path(record.mark)}.new`;
      writeFileSync(temporaryPath, JSON.stringify(record), { mode: 0o600 });
      renameSync(temporaryPath, this.#path(record.mark));
    });
  }

  #path(mark: string): string {
    return join(this.#folder, `${mark}.json`);
  }
}

let records: ProcessRecords | undefined;

/** Returns where children are recorded, or undefined if recording is off. */
export function currentRecords(): ProcessRecords | undefined {
  return records;
}

/** Sets where the supervised children are recorded; undefined turns recording off. */
export function setRecords(next: ProcessRecords | undefined): void {
  records = next;
}

/** Returns undefined if the system does not report when a process started: the id alone is not enough to kill a process. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const started = readProcess(pid)?.started;
  return started === undefined || started === 0 ? undefined : { pid, started };
}

/** Returns an id of the current boot; empty if the system has none. */
export function bootId(): string {
  return quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()) ?? '';
}

function isRecord(value: unknown): value is RecordedProcess {
  if (!isObject(value) || typeof value['mark'] !== 'string' || typeof value['boot'] !== 'string')
    return false;
  return isIdentity(value['owner']) && (value['child'] === undefined || isIdentity(value['child']));
}

function isIdentity(value: unknown): value is ProcessIdentity {
  return isObject(value) && Number.isInteger(value['pid']) && Number.isInteger(value['started']);
}

function quietly<Value>(work: () => Value): Value | undefined {
  try {
    return work();
  } catch {
    return undefined;
  }
}

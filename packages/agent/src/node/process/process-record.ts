import { mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../values/json.ts';
import { readProcess } from './process-table.ts';

/** One process, told from all others that had or will have its number. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In ticks since the machine started. */
  readonly started: number;
}

/** What is written of a child: enough to find it, and what it started, from another process. */
export interface RecordedProcess {
  /** In the environment of the child and of everything it starts. */
  readonly mark: string;
  /** Tells one start of the machine from another: numbers and ticks begin again. */
  readonly boot: string;
  /** The Cobbler that started it. */
  readonly owner: ProcessIdentity;
  /** Absent while it is being started. */
  readonly child?: ProcessIdentity;
}

/** The record of one child while it is looked after. */
export interface ProcessRecord {
  started(pid: number): void;
  forget(): void;
}

/**
 * A folder with one file for each supervised child that runs. A file that cannot be written changes nothing for
 * the child: it is only not found again should this process be killed.
 */
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

  /** Everything on record that can be read. */
  all(): RecordedProcess[] {
    const names = quietly(() => readdirSync(this.#folder)) ?? [];
    return names.filter((name) => /^[0-9a-f-]{36}\.json$/.test(name)).flatMap((name) => this.#read(name));
  }

  #read(name: string): RecordedProcess[] {
    const data = quietly((): unknown => JSON.parse(readFileSync(join(this.#folder, name), 'utf8')));
    if (!isRecord(data) || `${data.mark}.json` !== name) return [];
    return [data];
  }

  /** Beside its place and then moved there: a reader never sees half of it. */
  #write(record: RecordedProcess): void {
    quietly(() => {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      const draft = `${this.#path(record.mark)}.new`;
      writeFileSync(draft, JSON.stringify(record), { mode: 0o600 });
      renameSync(draft, this.#path(record.mark));
    });
  }

  #path(mark: string): string {
    return join(this.#folder, `${mark}.json`);
  }
}

let records: ProcessRecords | undefined;

/** Where children are recorded, if a program asked for it. */
export function currentRecords(): ProcessRecords | undefined {
  return records;
}

/** From now on every supervised child is on record there. Nothing: no longer. */
export function setRecords(next: ProcessRecords | undefined): void {
  records = next;
}

/** Undefined where the system does not tell when a process started: its number alone is not enough to kill by. */
export function identityOf(pid: number): ProcessIdentity | undefined {
  const started = readProcess(pid)?.started;
  return started === undefined || started === 0 ? undefined : { pid, started };
}

/** Empty where the system has none. */
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

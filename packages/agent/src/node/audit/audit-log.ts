import { hash } from 'node:crypto';
import { auditFacts, readEvents } from '../../audit/facts.ts';
import type { AuditFact } from '../../audit/record.ts';
import { maxWaiting } from '../../audit/record.ts';
import type { Event } from '../../events/event.ts';
import { AgentError } from '../../values/errors.ts';
import { amount, callable, count, read, record, text, when } from '../../values/input.ts';
import { isObject } from '../../values/json.ts';
import { isoTime } from '../../values/runtime.ts';
import { isBusy } from '../sqlite/database-error.ts';
import type { TimedFact } from './audit-file.ts';
import { AuditFile } from './audit-file.ts';

/** Options of {@link openAuditLog}. */
export interface AuditLogOptions {
  /** The directory of the log, which is created if it does not exist. Only its owner can read the files. */
  readonly folder: string;
  /** The name of the command that writes the records. */
  readonly surface: string;
  readonly version: string;
  /** Called once, when records cannot be written. */
  readonly onTrouble: (message: string) => void;
  /** The time when the program started, in milliseconds since 1970. Default: now. */
  readonly startedAt?: number;
  /** Returns milliseconds since 1970. Default: the system clock. */
  readonly now?: () => number;
  /** Calls the function soon, after other work. Default: `setImmediate`. */
  readonly soon?: (write: () => void) => void;
  /** Default: the id of this process. */
  readonly pid?: number;
}

/** An open audit log. No method throws because of the file: see `onTrouble`. */
export interface AuditLog {
  /** Records facts that no stored event contains. They are written soon, in order. */
  note(...facts: readonly AuditFact[]): void;
  /**
   * Records events that a store has accepted.
   * @param isRead true for the name of a tool with the effect `read`: its calls are recorded only if they are denied.
   */
  record(sessionId: string, events: readonly Event[], isRead: (toolName: string) => boolean): void;
  /** Writes the remaining records and a signed head. Writes nothing if the program recorded only its own start. */
  close(): void;
}

const readOptions = record<AuditLogOptions>(
  {
    folder: text,
    surface: text,
    version: text,
    onTrouble: callable,
    now: callable,
    startedAt: amount,
    soon: callable,
    pid: count,
  },
  ['folder', 'surface', 'version', 'onTrouble'],
);

const kinds: ReadonlySet<unknown> = new Set<AuditFact['kind']>([
  ...(['start', 'stop', 'sandbox', 'approval', 'decision', 'call', 'rule', 'token'] as const),
  ...(['share', 'gap', 'torn'] as const),
]);
/** True for records that a program writes only together with others, so that one without effects leaves nothing. */
function isFrame(fact: AuditFact): boolean {
  return fact.kind === 'rule' ? fact.change === 'in_force' : ['start', 'sandbox', 'stop'].includes(fact.kind);
}

const isName = (value: unknown) => typeof value === 'string' || typeof value === 'number';
const readFact = when<AuditFact>((value) => {
  if (!isObject(value) || !kinds.has(value['kind'])) return false;
  return Object.values(value).every(
    (field) => isName(field) || (Array.isArray(field) && field.every(isName)),
  );
}, 'a fact with a known kind, names and digests');
/**
 * Opens the audit log of a directory and records the start of a program. Other processes can write to it at the same time.
 * @throws AgentError `invalid` for invalid options.
 */
export function openAuditLog(options: AuditLogOptions): AuditLog {
  return new FileAuditLog(read(options, readOptions));
}

class FileAuditLog implements AuditLog {
  readonly #options: AuditLogOptions;
  #file: AuditFile | undefined;
  #waiting: TimedFact[] = [];
  #lost = 0;
  #isDue = false;
  #isClosed = false;
  #hasReported = false;

  constructor(options: AuditLogOptions) {
    this.#options = options;
    const { version, startedAt, now = Date.now } = options;
    this.note({ kind: 'start', version, time: isoTime(startedAt ?? now()) });
  }

  note(...facts: readonly AuditFact[]): void {
    const given = facts.map((fact) => ({ ...read(fact, readFact, 'fact') }));
    if (this.#isClosed) return;
    for (const fact of given) this.#waiting.push({ ...this.#own(), ...fact });
    if (this.#isDue || !this.#hasEffect) return;
    this.#isDue = true;
    const { soon = setImmediate } = this.#options;
    soon(() => {
      this.#isDue = false;
      if (!this.#isClosed) this.#write(false);
    });
  }

  record(sessionId: string, events: readonly Event[], isRead: (toolName: string) => boolean): void {
    const given = { session: read(sessionId, text, 'sessionId'), events: read(events, readEvents, 'events') };
    read(isRead, callable, 'isRead');
    const digest = (content: string) => hash('sha256', content, 'hex');
    this.note(...given.events.flatMap((event) => auditFacts(given.session, event, isRead, digest)));
  }

  close(): void {
    if (this.#isClosed) return;
    this.note({ kind: 'stop' });
    this.#isClosed = true;
    if (this.#hasEffect) this.#write(true);
    this.#file?.close();
  }

  /** True once there is more to record than that the program ran. */
  get #hasEffect(): boolean {
    return this.#file !== undefined || this.#waiting.some((fact) => !isFrame(fact));
  }

  #own() {
    const { surface, pid = process.pid, now = Date.now } = this.#options;
    return { time: isoTime(now()), surface, pid };
  }

  #write(isLast: boolean): void {
    const facts = this.#waiting.splice(0);
    const own = this.#own();
    const gap: TimedFact[] = this.#lost > 0 ? [{ ...own, kind: 'gap', lost: this.#lost }] : [];
    try {
      this.#file ??= new AuditFile(this.#options.folder, (error) => this.#report(error));
      this.#file.append([...gap, ...facts], own, isLast);
      this.#lost = 0;
    } catch (error) {
      this.#waiting = facts.slice(-maxWaiting);
      this.#lost += facts.length - this.#waiting.length;
      // Another process writes now: the next attempt is with the next record, or at the end.
      if (isBusy(error) && !isLast) return;
      this.#report(error);
    }
  }

  #report(error: unknown): void {
    if (!this.#hasReported) this.#options.onTrouble(AgentError.from(error).message);
    this.#hasReported = true;
  }
}

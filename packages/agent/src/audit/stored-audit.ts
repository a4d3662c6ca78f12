import type { Event } from '../events/event.ts';
import { AgentError } from '../values/errors.ts';
import { callable, read, record, text, withMethods } from '../values/input.ts';
import type { Runtime } from '../values/runtime.ts';
import { isoTime, systemRuntime } from '../values/runtime.ts';
import { auditFacts, contentOf, readEvents } from './facts.ts';
import type { AuditFact } from './record.ts';
import { firstPrev, headEvery, lineOf, maxWaiting, readAuditLine, withSignature } from './record.ts';

/** Where a {@link StoredAuditLog} keeps its lines. Several programs can share it. */
export interface AuditLines {
  /** Returns the last line; undefined if there is none. */
  last(): Promise<string | undefined>;
  /**
   * Appends lines after the given number of lines, all or none.
   * @returns false, without any change, if there are more lines already.
   */
  append(after: number, lines: readonly string[]): Promise<boolean>;
}

/** A private Ed25519 key. */
export interface AuditSigner {
  /** The public key: 32 bytes in base64url. */
  readonly key: string;
  /** Returns the signature of an ASCII text: 64 bytes in base64url. */
  sign(text: string): Promise<string>;
}

/** Options of {@link storedAuditLog}. */
export interface StoredAuditOptions {
  readonly lines: AuditLines;
  /** Returns what signs the heads. Called before the first head. */
  readonly signer: () => Promise<AuditSigner>;
  /** The name of the program that writes the records. */
  readonly surface: string;
  /** Called with each reason why records cannot be written. They wait for the next attempt. */
  readonly onTrouble: (message: string) => void;
  /** Default: the real runtime. */
  readonly runtime?: Pick<Runtime, 'now' | 'digest'>;
}

/** An audit log for any runtime. Its lines have the same format as those of `openAuditLog`. */
export interface StoredAuditLog {
  /**
   * Records events that a store has accepted. They are written soon, in order.
   * @param isRead true for the name of a tool with the effect `read`: its calls are recorded only if they are denied.
   */
  record(sessionId: string, events: readonly Event[], isRead: (toolName: string) => boolean): void;
  /** Resolves after everything was written, with a signed head at the end if this program has added records. */
  flush(): Promise<void>;
}

/** Maximum number of attempts while other programs append. */
const maxAttempts = 20;

const readOptions = record<StoredAuditOptions>(
  {
    lines: withMethods('last', 'append'),
    signer: callable,
    surface: text,
    onTrouble: callable,
    runtime: withMethods('now', 'digest'),
  },
  ['lines', 'signer', 'surface', 'onTrouble'],
);

/**
 * Opens an audit log whose lines are in a database.
 * @throws AgentError `invalid` for invalid options.
 */
export function storedAuditLog(options: StoredAuditOptions): StoredAuditLog {
  return new ChainedLog(read(options, readOptions));
}

class ChainedLog implements StoredAuditLog {
  readonly #options: StoredAuditOptions;
  readonly #runtime: Pick<Runtime, 'now' | 'digest'>;
  #waiting: Promise<AuditFact>[] = [];
  #work: Promise<void> = Promise.resolve();
  #signer: Promise<AuditSigner> | undefined;
  #isSigned = true;
  #lost = 0;

  constructor(options: StoredAuditOptions) {
    this.#options = options;
    this.#runtime = options.runtime ?? systemRuntime;
  }

  record(sessionId: string, events: readonly Event[], isRead: (toolName: string) => boolean): void {
    const given = { session: read(sessionId, text, 'sessionId'), events: read(events, readEvents, 'events') };
    read(isRead, callable, 'isRead');
    const facts = given.events.flatMap((event) =>
      auditFacts(given.session, event, isRead, () => 'unknown').map((fact) => this.#withDigest(fact, event)),
    );
    if (facts.length === 0) return;
    this.#waiting.push(...facts);
    void this.#next(false);
  }

  flush(): Promise<void> {
    return this.#next(true);
  }

  /** The digest is computed now, because a caller could change the event later. */
  async #withDigest(fact: AuditFact, event: Event): Promise<AuditFact> {
    if (fact.kind !== 'call') return fact;
    try {
      return { ...fact, hash: await this.#runtime.digest(contentOf(event)) };
    } catch {
      // The record itself must not be lost.
      return fact;
    }
  }

  #next(isLast: boolean): Promise<void> {
    this.#work = this.#work.then(async () => {
      const facts = this.#waiting.splice(0);
      if (facts.length === 0 && (!isLast || this.#isSigned)) return;
      try {
        await this.#write(await Promise.all(facts), isLast);
      } catch (error) {
        this.#waiting = [...facts, ...this.#waiting];
        this.#lost += this.#waiting.splice(0, this.#waiting.length - maxWaiting).length;
        this.#options.onTrouble(AgentError.from(error).message);
      }
    });
    return this.#work;
  }

  async #write(facts: readonly AuditFact[], isLast: boolean): Promise<void> {
    const { lines } = this.#options;
    const gap: AuditFact[] = this.#lost > 0 ? [{ kind: 'gap', lost: this.#lost }] : [];
    for (let attempt = 0; attempt < maxAttempts; attempt += 1) {
      const last = (await lines.last()) ?? '';
      const seq = readAuditLine(last)?.seq ?? 0;
      const added = await this.#linesAfter(seq, last, [...gap, ...facts], isLast);
      if (!(await lines.append(seq, added))) continue;
      this.#lost = 0;
      this.#isSigned = isLast;
      return;
    }
    throw contended();
  }

  async #linesAfter(seq: number, last: string, facts: readonly AuditFact[], isLast: boolean) {
    const added: string[] = [];
    const digest = (line: string) => this.#runtime.digest(line);
    let prev = last === '' ? firstPrev : await digest(last);
    const add = async (fact: object, sign = false) => {
      const own = { time: isoTime(this.#runtime.now()), surface: this.#options.surface, pid: 0 };
      const body = { v: 1, seq: seq + added.length + 1, ...own, ...fact, prev };
      const line = sign ? await this.#signed(body) : lineOf(body);
      added.push(line);
      prev = await digest(line);
    };
    for (const fact of facts) {
      await add(fact);
      if ((seq + added.length + 1) % headEvery === 0) await add({}, true);
    }
    if (isLast) await add({}, true);
    return added;
  }

  async #signed(body: object): Promise<string> {
    this.#signer ??= this.#options.signer();
    const signer = await this.#signer;
    const line = lineOf({ ...body, kind: 'head', key: signer.key });
    return withSignature(line, await signer.sign(line));
  }
}

function contended(): AgentError {
  const message = `The audit log could not be written in ${maxAttempts} attempts, because other programs write to it. The records wait for the next attempt.`;
  return new AgentError({ kind: 'agent', code: 'store', message, retryable: true });
}

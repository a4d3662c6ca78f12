import type { Event, Store } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { sequenceGap, writerReplaced } from '@cobbler/agent/store';
import type { Program } from '../scenario/program.ts';
import { storeTimeoutMs } from '../scenario/setting.ts';
import type { World } from '../scenario/world.ts';
import { never } from '../scenario/world.ts';

/** The ways in which a store operation fails. */
type DiskFault =
  | 'fails'
  | 'hangs'
  | 'commits and fails'
  | 'commits and hangs'
  | 'hangs and commits later'
  | 'throws immediately';

const faults: readonly DiskFault[] = [
  'fails',
  'hangs',
  'commits and fails',
  'commits and hangs',
  'hangs and commits later',
  'throws immediately',
];

type OperationKind = 'claim' | 'append' | 'read';

/** The failure of one program's store: the number of an operation, of any kind or of one kind, and its fault. */
interface Accident {
  readonly kind: OperationKind | 'any';
  readonly nth: number;
  readonly fault: DiskFault;
}

/** The operations to which an accident can happen, with the maximum number of the operation. */
const places: readonly (readonly [number, readonly [kind: Accident['kind'], max: number]])[] = [
  [5, ['any', 14]],
  [3, ['append', 10]],
  [2, ['read', 3]],
];

interface DiskSession {
  epoch: number;
  readonly lines: string[];
  /** Number of events that survive a power failure. */
  durable: number;
  /** True if reading fails because an event is damaged. */
  isDamaged: boolean;
  /** Number of events that come from a repaired log. */
  repaired: number;
}

type TroubleCount = { -readonly [Field in keyof Trouble]: Trouble[Field] } & {
  readonly operations: Map<Accident['kind'], number>;
};

/** The faults of a run's store. */
export interface Trouble {
  /** True if the store has failed or hung. */
  readonly failed: boolean;
  /** True if another program has claimed the session. */
  readonly fenced: boolean;
}

/**
 * Simulated durable storage of events as text, with stores to access it. It knows at any moment which events
 * are committed, and rejects writes out of order.
 */
export class Disk {
  readonly #world: World;
  readonly #sessions = new Map<string, DiskSession>();
  readonly #troubles = new WeakMap<Program, TroubleCount>();
  readonly #accidents = new WeakMap<Program, Accident>();
  /** True if operations complete synchronously, as in an in-memory store. */
  readonly #isDirect: boolean;
  /** The owner of pending writes, which survive the death of a program. */
  #elsewhere = { name: 'disk' };
  /** Ids of the runs with an append that has not succeeded, and true if it has failed. */
  readonly #appends = new Map<string, boolean>();
  #calm = false;

  constructor(world: World) {
    this.#world = world;
    this.#isDirect = world.choices.whether('store answers at once', 0.2);
  }

  /** Makes all operations succeed from now on. */
  calm(): void {
    this.#calm = true;
  }

  /** Returns the committed events of a session, as the next writer reads them. */
  events(sessionId: string): Event[] {
    return this.lines(sessionId).map((line): Event => JSON.parse(line));
  }

  /** Returns the committed events as text, one event per line. */
  lines(sessionId: string): readonly string[] {
    return this.#sessions.get(sessionId)?.lines ?? [];
  }

  get sessions(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  /** Returns true if exactly this event is committed. */
  holds(sessionId: string, event: Event): boolean {
    return this.lines(sessionId)[event.seq - 1] === JSON.stringify(event);
  }

  /** Returns the faults that a program's store has had so far. */
  trouble(program: Program): Trouble {
    return this.#troubleOf(program);
  }

  /** Resets the faults for the next run of a program. */
  forgive(program: Program): void {
    Object.assign(this.#troubleOf(program), { failed: false, fenced: false });
  }

  /** Returns the store of one program. */
  open(program: Program): Store {
    const { choices } = this.#world;
    if (choices.whether('store accident', 0.25)) {
      const [kind, max] = choices.among('kind of operation', places);
      const nth = choices.between('which operation', 1, max);
      this.#accidents.set(program, { kind, nth, fault: choices.pick('how it goes wrong', faults) });
    }
    return {
      claim: (sessionId) => this.#operate(program, 'claim', 'claim', () => this.#claim(sessionId)),
      append: (sessionId, events, { epoch, durable = false }) => {
        const batch = { lines: events.map((event) => JSON.stringify(event)), epoch, durable };
        const what = `append ${events.map(({ seq, type }) => `${seq} ${type}`).join(', ')}`;
        return this.#inOrder(program, events, () =>
          this.#operate(program, 'append', `${what}${durable ? ' durably' : ''}`, () =>
            this.#append(sessionId, batch, this.#troubleOf(program)),
          ),
        );
      },
      read: (sessionId, afterSeq, limit) =>
        this.#operate(program, 'read', 'read', () => {
          if (this.#sessions.get(sessionId)?.isDamaged === true) this.#troubleOf(program).failed = true;
          return this.#read(sessionId, afterSeq, limit);
        }),
      sessions: () => this.sessions,
    };
  }

  /** Returns a store without faults, for the repair of a session. */
  sound(): Store {
    return {
      claim: (sessionId) => this.#claim(sessionId),
      append: (sessionId, events, { epoch, durable = false }) =>
        this.#append(sessionId, { lines: events.map((event) => JSON.stringify(event)), epoch, durable }),
      read: (sessionId, afterSeq, limit) => this.#read(sessionId, afterSeq, limit),
      sessions: () => this.sessions,
    };
  }

  /** Returns the number of events that come from a repaired log: others may be missing between them. */
  repaired(sessionId: string): number {
    return this.#sessions.get(sessionId)?.repaired ?? 0;
  }

  /** Records that all events of a session so far come from a repaired log. */
  noteRepaired(sessionId: string): void {
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.repaired = session.lines.length;
  }

  /** Makes every later read of a session fail. */
  damage(sessionId: string): void {
    this.#dropPending();
    const session = this.#sessions.get(sessionId);
    if (session !== undefined) session.isDamaged = true;
  }

  /** Loses the last events of each session, but none that was appended durably, and none before it. */
  loseEnds(): void {
    this.#dropPending();
    for (const [sessionId, session] of this.#sessions) {
      if (session.isDamaged) continue;
      const unsynced = session.lines.length - session.durable;
      const lost = this.#world.choices.between('events lost', 0, unsynced);
      session.lines.length -= lost;
      if (lost > 0) this.#world.note(`the power failure loses the last ${lost} events of ${sessionId}`);
      session.durable = session.lines.length;
    }
  }

  #dropPending(): void {
    this.#world.forget(this.#elsewhere);
    this.#elsewhere = { name: 'disk' };
  }

  /** Checks that a run appends one batch at a time, and none after one that failed. */
  #inOrder<Value>(
    program: Program,
    events: readonly Event[],
    append: () => Value | Promise<Value>,
  ): Value | Promise<Value> {
    const [first] = events;
    if (!program.alive || first === undefined) return append();
    const { runId, seq, type } = first;
    const before = this.#appends.get(runId);
    this.#world.expect(
      before === undefined,
      'log failure',
      () => `event ${seq} (${type}) was appended ${before ? 'after' : 'during'} an append of unknown outcome`,
    );
    this.#appends.set(runId, false);
    const fail = (error: unknown) => {
      this.#appends.set(runId, true);
      throw error;
    };
    try {
      const value = append();
      if (value instanceof Promise)
        return value.then((done) => {
          this.#appends.delete(runId);
          return done;
        }, fail);
      this.#appends.delete(runId);
      return value;
    } catch (error) {
      return fail(error);
    }
  }

  #operate<Value>(
    program: Program,
    kind: OperationKind,
    what: string,
    work: () => Value,
  ): Value | Promise<Value> {
    if (!program.alive) return never();
    program.cross('store');
    const fault = this.#faultNow(program, kind);
    if (fault !== undefined) return this.#goWrong(program, what, fault, work);
    if (this.#isDirect) {
      this.#world.note(`${program.name}: ${what}`);
      return this.#done(program, work);
    }
    const { choices } = this.#world;
    const before = choices.among('store takes', latencies);
    const after = choices.among('store answers after', latencies);
    return this.#world
      .later(before, program, what, work)
      .finally(() => this.#world.later(after, program, `completed: ${what}`, () => {}))
      .finally(() => program.cross('stored'));
  }

  #done<Value>(program: Program, work: () => Value): Value {
    try {
      return work();
    } finally {
      program.cross('stored');
    }
  }

  #faultNow(program: Program, kind: OperationKind): DiskFault | undefined {
    const trouble = this.#troubleOf(program);
    const { operations } = trouble;
    for (const counted of ['any', kind] as const) operations.set(counted, (operations.get(counted) ?? 0) + 1);
    const accident = this.#accidents.get(program);
    const isNow = accident?.kind === 'any' || accident?.kind === kind;
    if (this.#calm || !isNow || accident.nth !== operations.get(accident.kind)) return undefined;
    trouble.failed = true;
    return accident.fault;
  }

  #goWrong<Value>(program: Program, what: string, fault: DiskFault, work: () => Value): Promise<Value> {
    this.#world.note(`${program.name}: ${what} ${fault}`);
    const broken = () => {
      throw Object.assign(new Error('the disk is full'), { code: 'ENOSPC' });
    };
    switch (fault) {
      case 'throws immediately':
        return broken();
      case 'fails':
        return this.#world.later(5, program, `fails: ${what}`, broken);
      case 'hangs':
        return never();
      case 'commits and hangs':
        work();
        return never();
      case 'hangs and commits later':
        // A pending write is completed even if the program no longer waits for it.
        this.#world.after(storeTimeoutMs + 500, this.#elsewhere, `commits after all: ${what}`, () => {
          try {
            work();
          } catch (error) {
            this.#world.note(`refused: ${error instanceof Error ? error.message : String(error)}`);
          }
        });
        return never();
      case 'commits and fails':
        work();
        return this.#world.later(5, program, `fails: ${what}`, broken);
    }
  }

  #claim(sessionId: string): number {
    const session = this.#sessions.get(sessionId) ?? newSession();
    this.#sessions.set(sessionId, session);
    session.epoch += 1;
    return session.epoch;
  }

  #read(sessionId: string, afterSeq = 0, limit = Number.POSITIVE_INFINITY): Event[] {
    if (this.#sessions.get(sessionId)?.isDamaged !== true)
      return this.events(sessionId).slice(afterSeq, afterSeq + limit);
    const message = `Session ${sessionId} is damaged.`;
    throw new AgentError({ kind: 'invalid', code: 'store_damaged', message });
  }

  #append(
    sessionId: string,
    {
      lines,
      epoch,
      durable,
    }: { readonly lines: readonly string[]; readonly epoch: number; readonly durable: boolean },
    trouble?: TroubleCount,
  ): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.epoch !== epoch) {
      if (trouble !== undefined) trouble.fenced = true;
      throw writerReplaced(sessionId);
    }
    this.#world.expect(!session.isDamaged, 'log damaged', `an event was appended to damaged ${sessionId}`);
    for (const [offset, line] of lines.entries()) {
      const event: Event = JSON.parse(line);
      const seq = session.lines.length + offset + 1;
      if (event.seq !== seq) {
        this.#world.violate('log order', `event ${event.seq} (${event.type}) was appended instead of ${seq}`);
        throw sequenceGap(sessionId, event.seq);
      }
    }
    session.lines.push(...lines);
    if (durable) session.durable = session.lines.length;
  }

  #troubleOf(program: Program): TroubleCount {
    const trouble = this.#troubles.get(program) ?? { failed: false, fenced: false, operations: new Map() };
    this.#troubles.set(program, trouble);
    return trouble;
  }
}

const latencies: readonly (readonly [number, number])[] = [
  [6, 1],
  [3, 0],
  [2, 20],
  [1, 300],
];

function newSession(): DiskSession {
  return { epoch: 0, lines: [], durable: 0, isDamaged: false, repaired: 0 };
}

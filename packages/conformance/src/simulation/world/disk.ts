import type { Event, Store } from '@cobbler/agent';
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

/** The failure of one program's store: its operation and kind. */
interface Accident {
  readonly nth: number;
  readonly fault: DiskFault;
}

interface DiskSession {
  epoch: number;
  readonly lines: string[];
}

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
  readonly #troubles = new WeakMap<Program, { failed: boolean; fenced: boolean; operations: number }>();
  readonly #accidents = new WeakMap<Program, Accident>();
  /** True if operations complete synchronously, as in an in-memory store. */
  readonly #isDirect: boolean;
  /** The owner of pending writes, which survive the death of a program. */
  readonly #elsewhere = { name: 'disk' };
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
      const nth = choices.between('which operation', 1, 14);
      this.#accidents.set(program, { nth, fault: choices.pick('how it goes wrong', faults) });
    }
    return {
      claim: (sessionId) => this.#operate(program, 'claim', () => this.#claim(sessionId)),
      append: (sessionId, events, { epoch }) => {
        const lines = events.map((event) => JSON.stringify(event));
        const what = `append ${events.map(({ seq, type }) => `${seq} ${type}`).join(', ')}`;
        return this.#operate(program, what, () => this.#append(program, sessionId, lines, epoch));
      },
      read: (sessionId, afterSeq = 0) =>
        this.#operate(program, 'read', () => this.events(sessionId).slice(afterSeq)),
      sessions: () => this.sessions,
    };
  }

  #operate<Value>(program: Program, what: string, work: () => Value): Value | Promise<Value> {
    if (!program.alive) return never();
    program.cross('store');
    const fault = this.#faultNow(program);
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

  #faultNow(program: Program): DiskFault | undefined {
    const trouble = this.#troubleOf(program);
    trouble.operations += 1;
    const accident = this.#accidents.get(program);
    if (this.#calm || accident?.nth !== trouble.operations) return undefined;
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
    const session = this.#sessions.get(sessionId) ?? { epoch: 0, lines: [] };
    this.#sessions.set(sessionId, session);
    session.epoch += 1;
    return session.epoch;
  }

  #append(program: Program, sessionId: string, lines: readonly string[], epoch: number): void {
    const session = this.#sessions.get(sessionId);
    if (session === undefined || session.epoch !== epoch) {
      this.#troubleOf(program).fenced = true;
      throw writerReplaced(sessionId);
    }
    for (const [offset, line] of lines.entries()) {
      const event: Event = JSON.parse(line);
      const seq = session.lines.length + offset + 1;
      if (event.seq !== seq) {
        this.#world.violate('log order', `event ${event.seq} (${event.type}) was appended instead of ${seq}`);
        throw sequenceGap(sessionId, event.seq);
      }
    }
    session.lines.push(...lines);
  }

  #troubleOf(program: Program): { failed: boolean; fenced: boolean; operations: number } {
    const trouble = this.#troubles.get(program) ?? { failed: false, fenced: false, operations: 0 };
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

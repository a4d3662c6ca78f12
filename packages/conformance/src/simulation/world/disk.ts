import type { Event, Store } from '@cobbler/agent';
import { sequenceGap, writerReplaced } from '@cobbler/agent/store';
import type { Program } from '../scenario/program.ts';
import { storeTimeoutMs } from '../scenario/setting.ts';
import type { World } from '../scenario/world.ts';
import { never } from '../scenario/world.ts';

/** How an operation of the store goes wrong. */
type DiskFault =
  | 'fails'
  | 'hangs'
  | 'commits and fails'
  | 'commits and hangs'
  | 'hangs and commits later'
  | 'throws at once';

const faults: readonly DiskFault[] = [
  'fails',
  'hangs',
  'commits and fails',
  'commits and hangs',
  'hangs and commits later',
  'throws at once',
];

/** At which operation of one program the store goes wrong, and how. */
interface Accident {
  readonly nth: number;
  readonly fault: DiskFault;
}

interface DiskSession {
  epoch: number;
  readonly lines: string[];
}

/** What a run must be told about its store. */
export interface Trouble {
  /** Whether the store has failed or kept silent. */
  readonly failed: boolean;
  /** Whether another program has taken the session over. */
  readonly fenced: boolean;
}

/**
 * What is kept for ever, as text, and the way to it. Knows at any moment which events are committed, and
 * refuses to be written to in any order but the right one.
 */
export class Disk {
  readonly #world: World;
  readonly #sessions = new Map<string, DiskSession>();
  readonly #troubles = new WeakMap<Program, { failed: boolean; fenced: boolean; operations: number }>();
  readonly #accidents = new WeakMap<Program, Accident>();
  /** Answers come at once, as from a store in memory. */
  readonly #isDirect: boolean;
  /** What is on its way to the disk, whoever sent it. */
  readonly #elsewhere = { name: 'disk' };
  #calm = false;

  constructor(world: World) {
    this.#world = world;
    this.#isDirect = world.choices.whether('store answers at once', 0.2);
  }

  /** From here on every operation goes well. */
  calm(): void {
    this.#calm = true;
  }

  /** The committed events of a session, as whoever opens it next reads them. */
  events(sessionId: string): Event[] {
    return this.lines(sessionId).map((line): Event => JSON.parse(line));
  }

  /** The same as text: one event a line. */
  lines(sessionId: string): readonly string[] {
    return this.#sessions.get(sessionId)?.lines ?? [];
  }

  get sessions(): readonly string[] {
    return [...this.#sessions.keys()];
  }

  /** Whether exactly this event is committed. */
  holds(sessionId: string, event: Event): boolean {
    return this.lines(sessionId)[event.seq - 1] === JSON.stringify(event);
  }

  /** What a program has had to bear so far. */
  trouble(program: Program): Trouble {
    return this.#troubleOf(program);
  }

  /** What the next run of a program has had to bear so far: nothing. */
  forgive(program: Program): void {
    Object.assign(this.#troubleOf(program), { failed: false, fenced: false });
  }

  /** The store as one program sees it. */
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
      .finally(() => this.#world.later(after, program, `is told about: ${what}`, () => {}))
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
      case 'throws at once':
        return broken();
      case 'fails':
        return this.#world.later(5, program, `fails: ${what}`, broken);
      case 'hangs':
        return never();
      case 'commits and hangs':
        work();
        return never();
      case 'hangs and commits later':
        // What is on its way to the disk arrives even when nobody waits for it any more.
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
        this.#world.violate('log order', `event ${event.seq} (${event.type}) comes where ${seq} belongs`);
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

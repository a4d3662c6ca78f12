import type { Event, RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import type { People } from './people.ts';
import type { ReaderRecord, SimulatedRun } from './scenario/record.ts';
import type { SimulationSetting } from './scenario/setting.ts';
import type { World } from './scenario/world.ts';
import type { Disk } from './world/disk.ts';

/** Receives every event of a run when it is emitted. */
export class Watcher {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #people: People;
  readonly #setting: SimulationSetting;

  constructor(world: World, disk: Disk, people: People, setting: SimulationSetting) {
    this.#world = world;
    this.#disk = disk;
    this.#people = people;
    this.#setting = setting;
  }

  /** Receives one event. All earlier events are already recorded. */
  see(record: SimulatedRun, event: RunEvent): void {
    const { program, events } = record;
    if (!program.alive) return;
    const last = events.at(-1);
    this.#world.expect(last?.type !== 'finished', 'events end', `${event.type} was emitted after the end`);
    if (isStored(event)) this.#stored(record, event);
    events.push(event);
    this.#waiting(record, event);
    program.cross('event');
    if (isStored(event)) program.cross('shown');
  }

  /** Reads a run as an iterator, quickly or slowly, to the end or not. */
  async read(record: SimulatedRun, who: string): Promise<void> {
    const { choices } = this.#world;
    const slow = choices.whether('slow reader', 0.2);
    const patience = choices.whether('reader leaves', 0.2)
      ? choices.between('leaves after', 0, 12)
      : undefined;
    const reading: ReaderRecord = { who, events: [], left: false, ended: false };
    record.readings.push(reading);
    for await (const event of record.run) {
      this.#world.touch();
      reading.events.push(event);
      if (patience !== undefined && reading.events.length > patience) {
        reading.left = true;
        break;
      }
      if (slow) await this.#world.later(40, record.program, `${who} has read ${event.type}`, () => {});
    }
    reading.ended = true;
  }

  #stored(record: SimulatedRun, event: Event): void {
    const { sessionId, events } = record;
    this.#world.note(`${record.name}: emits ${event.seq} ${event.type}${statusOf(event)}`);
    this.#world.expect(
      this.#disk.holds(sessionId, event),
      'P13 shown',
      () => `event ${event.seq} (${event.type}) was emitted before it was committed`,
    );
    const before = events.findLast(isStored);
    this.#world.expect(
      before === undefined || event.seq === before.seq + 1,
      'readers order',
      `event ${event.seq} was emitted after ${before?.seq}`,
    );
  }

  /** Measures how long users take, and requests their decisions. */
  #waiting(record: SimulatedRun, event: RunEvent): void {
    if (event.type === 'approval_requested') this.#ask(record, event.approvalId);
    if (event.type === 'approval_decided') record.asking.delete(event.approvalId);
    if (event.type === 'status' && event.state === 'waiting') {
      record.waitsSince ??= this.#world.elapsed;
      // Approvals requested in an earlier process may still be pending.
      for (const approvalId of undecidedIn(this.#disk.events(record.sessionId)))
        this.#ask(record, approvalId);
    }
    const isOver = event.type === 'stop_requested' || event.type === 'finished';
    if (record.waitsSince === undefined || (record.asking.size > 0 && !isOver)) return;
    record.waitedMs += this.#world.elapsed - record.waitsSince;
    delete record.waitsSince;
  }

  #ask(record: SimulatedRun, approvalId: string): void {
    if (record.asking.has(approvalId)) return;
    record.asking.add(approvalId);
    if (this.#setting.attended) this.#people.asked(record, approvalId);
  }
}

/** Returns the ids of pending approvals. */
function undecidedIn(events: readonly Event[]): Set<string> {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'approval_requested') open.add(event.approvalId);
    if (event.type === 'approval_decided') open.delete(event.approvalId);
  }
  return open;
}

function statusOf(event: Event): string {
  if (event.type !== 'finished') return '';
  return `: ${event.status}${event.error === undefined ? '' : ` (${event.error.kind}, ${event.error.code})`}`;
}

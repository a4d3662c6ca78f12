import type { Event, RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import type { Disk } from './environment/disk.ts';
import type { ModelService } from './environment/service.ts';
import type { People } from './people.ts';
import type { Readers } from './readers.ts';
import { intendedText, ResponseText, storedText } from './response-text.ts';
import type { SimulatedRun } from './scenario/record.ts';
import type { SimulationSetting } from './scenario/setting.ts';
import type { World } from './scenario/world.ts';

/** The parts of the simulation that a watcher needs. */
export interface WatcherContext {
  readonly world: World;
  readonly disk: Disk;
  readonly service: ModelService;
  readonly people: People;
  readonly readers: Readers;
  readonly setting: SimulationSetting;
}

/** Receives every event of a run when it is emitted. */
export class Watcher {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #service: ModelService;
  readonly #people: People;
  readonly #readers: Readers;
  readonly #setting: SimulationSetting;
  readonly #texts = new WeakMap<SimulatedRun, ResponseText>();

  constructor({ world, disk, service, people, readers, setting }: WatcherContext) {
    this.#world = world;
    this.#disk = disk;
    this.#service = service;
    this.#people = people;
    this.#readers = readers;
    this.#setting = setting;
  }

  /** Receives one event. All earlier events are already recorded. */
  see(record: SimulatedRun, event: RunEvent): void {
    const { program, events } = record;
    if (!program.alive) return;
    const last = events.at(-1);
    this.#world.expect(last?.type !== 'finished', 'events end', `${event.type} was emitted after the end`);
    if (isStored(event)) this.#stored(record, event);
    this.#text(record, event);
    events.push(event);
    this.#waiting(record, event);
    program.cross('event');
    if (isStored(event)) program.cross('shown');
    if (event.type === 'finished' && this.#world.choices.whether('reader at the end', 0.1))
      this.#readers.join(record, `${record.name}'s reader at the end`);
  }

  /** Checks that only text of the current attempt is shown, and that the log contains what was shown. */
  #text(record: SimulatedRun, event: RunEvent): void {
    const shown = this.#texts.get(record) ?? new ResponseText();
    this.#texts.set(record, shown);
    if (event.type === 'assistant') this.#stores(shown.text, storedText(event.content), event);
    if (event.type === 'ask_failed' && event.compacting !== true) {
      const isKept = event.error.code !== 'context_full' && shown.text.trim() !== '';
      this.#stores(isKept ? shown.text : '', storedText(event.partial ?? []), event);
    }
    shown.see(event);
    if (event.type !== 'text_delta' && event.type !== 'text') return;
    const served = this.#service.of(record.program).at(-1);
    const intended = served === undefined ? '' : intendedText(served);
    // A complete block has no half of a surrogate pair, but a part of it can end in the middle of one.
    const isOwn =
      intended.startsWith(shown.text) || intended.toWellFormed().startsWith(shown.text.toWellFormed());
    this.#world.expect(
      isOwn,
      'P8 text',
      () => `${JSON.stringify(shown.text)} was shown, which response ${served?.request} does not start with`,
    );
  }

  #stores(shown: string, stored: string, { seq, type }: RunEvent & { readonly seq?: number }): void {
    this.#world.expect(
      stored === shown.toWellFormed(),
      'P8 stored text',
      () =>
        `event ${seq} (${type}) has the text ${JSON.stringify(stored)}, shown was ${JSON.stringify(shown)}`,
    );
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
    // A slow store may emit the end after the result.
    const until = Math.min(this.#world.elapsed, record.endedAt ?? this.#world.elapsed);
    record.waitedMs += Math.max(0, until - record.waitsSince);
    delete record.waitsSince;
  }

  #ask(record: SimulatedRun, approvalId: string): void {
    if (record.asking.has(approvalId)) return;
    record.asking.add(approvalId);
    if (this.#setting.attended) this.#people.onApproval(record, approvalId);
  }
}

/** Returns the ids of pending approvals. */
function undecidedIn(events: readonly Event[]): Set<string> {
  const open = new Set<string>();
  for (const event of events) {
    if (event.type === 'approval_requested') open.add(event.approvalId);
    if (event.type === 'approval_decided') open.delete(event.approvalId);
    // The calls of a run end with it, and with the next prompt.
    const isOver =
      event.type === 'finished' ? event.status !== 'waiting' : event.type === 'user' && !event.steer;
    if (isOver) open.clear();
  }
  return open;
}

function statusOf(event: Event): string {
  if (event.type !== 'finished') return '';
  return `: ${event.status}${event.error === undefined ? '' : ` (${event.error.kind}, ${event.error.code})`}`;
}

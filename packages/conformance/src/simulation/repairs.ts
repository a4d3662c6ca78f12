import type { Event } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { emptyState, fold } from '@cobbler/agent/events';
import { importSession, repairLog } from '@cobbler/agent/format';
import { assertValidHistory } from '@cobbler/agent/testing';
import type { Disk } from './environment/disk.ts';
import type { World } from './scenario/world.ts';

type Damage =
  | 'cuts its last event in the middle'
  | 'overwrites an event'
  | 'loses an event'
  | 'changes an event'
  | 'repeats an event'
  | 'swaps two events';

const kinds: readonly Damage[] = [
  'cuts its last event in the middle',
  'overwrites an event',
  'loses an event',
  'changes an event',
  'repeats an event',
  'swaps two events',
];

/** The lines of a damaged log, and those of them that are still intact, in their original order. */
interface DamagedLog {
  readonly lines: readonly string[];
  readonly intact: readonly string[];
  /** Number of intact lines before the damage. */
  readonly before: number;
}

/** Damages the logs of sessions while no process uses them, and repairs them as `doctor --fix` and an import do. */
export class Repairs {
  readonly #world: World;
  readonly #disk: Disk;
  readonly #damaged = new Map<string, DamagedLog>();

  constructor(world: World, disk: Disk) {
    this.#world = world;
    this.#disk = disk;
  }

  /** Damages a log, or leaves it intact. */
  damages(sessionId: string): boolean {
    const { choices } = this.#world;
    const lines = this.#disk.lines(sessionId);
    if (lines.length === 0 || !choices.whether('log damaged', 0.06)) return false;
    const kind = choices.pick('damage', kinds);
    const last = lines.length - 1;
    const at =
      kind === 'cuts its last event in the middle' ? last : choices.between('damaged event', 0, last);
    this.#damaged.set(sessionId, damageLog(lines, kind, at));
    this.#disk.damage(sessionId);
    this.#world.note(`a fault ${kind} of ${sessionId}: event ${at + 1} of ${lines.length}`);
    return true;
  }

  /** Repairs a log and imports it as a new session, whose id it returns. */
  async repair(sessionId: string): Promise<string> {
    const log = this.#damaged.get(sessionId);
    if (log === undefined) return sessionId;
    const repaired = repairLog(log.lines.map(parseLine));
    this.#check(log, repaired.events);
    const isDamaged = repaired.problems.some(({ what }) => !what.startsWith('is the last one'));
    const newId = `${sessionId}-repaired`;
    const code = await this.#import(log.lines, isDamaged ? newId : `${newId}-unchanged`);
    const isRefused = code === 'damaged_log' || (!isDamaged && code !== 'failed');
    this.#world.expect(isRefused, 'repair', () => `a damaged log was imported with the outcome ${code}`);
    const stored = this.#disk.lines(newId).length;
    this.#world.expect(stored === 0, 'repair', `${stored} events of a damaged log were imported`);
    const again = await this.#import(
      repaired.events.map((event) => JSON.stringify(event)),
      newId,
    );
    const isImported = again === 'imported' || repaired.events.length === 0;
    this.#world.expect(isImported, 'repair', `a repaired log was not imported: ${again}`);
    this.#disk.noteRepaired(newId);
    this.#world.note(`${sessionId} is repaired as ${newId}: ${this.#disk.lines(newId).length} events`);
    return newId;
  }

  async #import(lines: readonly string[], sessionId: string): Promise<string> {
    try {
      await importSession(this.#disk.sound(), lines, sessionId);
      return 'imported';
    } catch (error) {
      return AgentError.is(error) ? (error.code ?? 'failed') : 'failed';
    }
  }

  /** A repaired log is valid, contains nothing new, and all that was intact and does not depend on what is lost. */
  #check({ intact, before }: DamagedLog, events: readonly Event[]): void {
    const { problems } = repairLog(events);
    this.#expect(problems.length === 0, () => `a repaired log still has a problem: ${problems[0]?.what}`);
    const known = new Set(intact.map(contentOf));
    const added = events.filter((event) => !known.has(contentOf(JSON.stringify(event))));
    const isEnd = added.every((event) => event === events.at(-1) && event.type === 'finished');
    this.#expect(isEnd, () => `the repair added or changed event ${added[0]?.seq} (${added[0]?.type})`);
    const isPrefix = intact.slice(0, before).every((line, index) => JSON.stringify(events[index]) === line);
    this.#expect(isPrefix, () => `the repair changed one of the ${before} events before the damage`);
    for (const type of ['user', 'assistant', 'finished']) {
      const had = intact.filter((line) => line.includes(`"type":"${type}"`) && eventOf(line).type === type);
      const kept = events.filter((event) => event.type === type && !added.includes(event));
      const isKept = kept.length === had.length;
      this.#expect(isKept, () => `the repair kept ${kept.length} of ${had.length} intact ${type} events`);
    }
    const state = emptyState();
    for (const event of events) fold(state, event);
    if (state.finished?.status === 'waiting') return;
    this.#expect(state.calls.length === 0, () => `a repaired log has ${state.calls.length} open calls`);
    try {
      assertValidHistory(state.messages);
    } catch (error) {
      this.#expect(false, () => `a repaired log folds to an invalid history: ${String(error)}`);
    }
  }

  #expect(condition: boolean, message: () => string): void {
    this.#world.expect(condition, 'repair', message);
  }
}

function damageLog(lines: readonly string[], kind: Damage, at: number): DamagedLog {
  const line = lines[at] ?? '';
  const others = lines.toSpliced(at, 1);
  const before = Math.min(at, others.length);
  switch (kind) {
    case 'cuts its last event in the middle':
      return { lines: lines.with(at, line.slice(0, line.length / 2)), intact: others, before };
    case 'overwrites an event':
      return { lines: lines.with(at, '\u0000'.repeat(line.length)), intact: others, before };
    case 'loses an event':
      return { lines: others, intact: others, before };
    case 'changes an event':
      return { lines: lines.with(at, line.replace('"time":', '"tame":')), intact: others, before };
    case 'repeats an event':
      return { lines: lines.toSpliced(at, 0, line), intact: lines, before: lines.length };
    case 'swaps two events':
      return {
        lines: [...others.slice(0, at + 1), line, ...others.slice(at + 1)],
        intact: lines,
        before: lines.length,
      };
  }
}

/** Returns the text of an event without the positions that a repair changes. */
function contentOf(line: string): string {
  return JSON.stringify({ ...eventOf(line), seq: 0, id: '', turn: 0, upTo: 0 });
}

function eventOf(line: string): Event {
  return JSON.parse(line);
}

function parseLine(line: string): unknown {
  try {
    return JSON.parse(line);
  } catch {
    return line;
  }
}

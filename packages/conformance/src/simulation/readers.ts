import type { Event, RunEvent } from '@cobbler/agent';
import { AgentError, isStored } from '@cobbler/agent';
import { emptyState, fold } from '@cobbler/agent/events';
import type { ModelService } from './environment/service.ts';
import { intendedText, ResponseText, storedText } from './response-text.ts';
import type { ReaderRecord, SimulatedRun } from './scenario/record.ts';
import type { World } from './scenario/world.ts';

type ReaderKind = 'reads events' | 'listens' | 'reads text';

const kinds: readonly (readonly [number, ReaderKind])[] = [
  [4, 'reads events'],
  [3, 'listens'],
  [2, 'reads text'],
];

/** The readers of runs. They join at any time, read quickly or slowly, and leave at the end or before it. */
export class Readers {
  readonly #world: World;
  readonly #service: ModelService;

  constructor(world: World, service: ModelService) {
    this.#world = world;
    this.#service = service;
  }

  /** Joins a run at its start: one reader of its events, and sometimes one of its text. */
  begin(record: SimulatedRun, who: string): void {
    void this.#read(record, who);
    if (this.#world.choices.whether('text is read', 0.15)) void this.#readText(record, `${who} of text`);
  }

  /** Joins a run as any kind of reader. */
  join(record: SimulatedRun, who: string): void {
    const kind = this.#world.choices.among('kind of reader', kinds);
    this.#world.note(`${who} joins: it ${kind}`);
    if (kind === 'listens') this.#listen(record, who);
    else if (kind === 'reads text') void this.#readText(record, who);
    else void this.#read(record, who);
  }

  /** Reads a run as an iterator, quickly or slowly, to the end or not. */
  async #read(record: SimulatedRun, who: string): Promise<void> {
    const { choices } = this.#world;
    const slowMs = choices.whether('slow reader', 0.2) ? choices.pick('reader takes', [40, 1_500]) : 0;
    const maxEvents = this.#maxEvents();
    const reading = this.#begin(record, who, (run) => [...this.#past(record), ...run.soFar]);
    for await (const event of record.run) {
      this.#world.touch();
      reading.events.push(event);
      if (maxEvents !== undefined && reading.events.length > maxEvents) {
        reading.left = true;
        break;
      }
      if (slowMs > 0)
        await this.#world.later(slowMs, record.program, `${who} has read ${event.type}`, () => {});
    }
    reading.ended = true;
  }

  /** Checks that each reader of a run that has ended received what it was due, and nothing else. */
  check(record: SimulatedRun, log: readonly Event[]): void {
    for (const reading of record.readings) this.#check(record, reading, log);
  }

  /** Receives later events only, until it has enough. */
  #listen(record: SimulatedRun, who: string): void {
    const maxEvents = this.#maxEvents();
    const reading = this.#begin(record, who, () => []);
    reading.ended = true;
    const stop = record.run.subscribe((event) => {
      this.#world.expect(!reading.left, 'readers left', `${who} left but received ${event.type}`);
      reading.events.push(event);
      if (maxEvents === undefined || reading.events.length <= maxEvents) return;
      reading.left = true;
      stop();
    });
  }

  /** Reads the text of a run, whose chunks never repeat and never mix attempts. */
  async #readText(record: SimulatedRun, who: string): Promise<void> {
    const { run, program } = record;
    const slow = this.#world.choices.whether('slow reader', 0.4);
    let text = '';
    let code: string | undefined = 'none';
    try {
      for await (const chunk of run.text()) {
        this.#world.touch();
        text += chunk;
        if (slow)
          await this.#world.later(40, program, `${who} has read ${chunk.length} characters`, () => {});
      }
    } catch (error) {
      code = AgentError.is(error) ? error.code : String(error);
    }
    if (program.alive) this.#checkText(record, who, { text: text.toWellFormed(), code });
  }

  #checkText(
    { events, result, program }: SimulatedRun,
    who: string,
    { text, code }: { readonly text: string; readonly code: string | undefined },
  ): void {
    const answers = events.flatMap((event) => (event.type === 'assistant' ? storedText(event.content) : []));
    const whole = joined(answers);
    const read = () => `${who} read ${JSON.stringify(text)}, but the responses are ${JSON.stringify(whole)}`;
    if (code === 'none') return this.#world.expect(text === whole, 'readers text', read);
    const isDue = code === 'text_discarded' || code === result?.error?.code || code === result?.status;
    this.#world.expect(isDue, 'readers text', `${who} received the error ${code}`);
    if (whole.startsWith(text)) return;
    // The rest may be of an attempt that failed, but only of one.
    const attempts = this.#service.of(program).map((served) => intendedText(served).toWellFormed());
    const ends = [0, ...answers.map((_, index) => joined(answers.slice(0, index + 1)).length)];
    const isOne = ends.some((end) => {
      const rest = text
        .slice(end)
        .replace(/^\n\n/, '')
        .replace(/\ufffd$/, '');
      return whole.startsWith(text.slice(0, end)) && attempts.some((attempt) => attempt.startsWith(rest));
    });
    this.#world.expect(isOne, 'readers text', read);
  }

  #maxEvents(): number | undefined {
    const { choices } = this.#world;
    return choices.whether('reader leaves', 0.2) ? choices.between('leaves after', 0, 12) : undefined;
  }

  #begin(
    record: SimulatedRun,
    who: string,
    start: (run: SimulatedRun['run']) => readonly RunEvent[],
  ): ReaderRecord {
    const reading: ReaderRecord = {
      who,
      from: record.events.length,
      start: start(record.run),
      events: [],
      left: false,
      ended: false,
    };
    record.readings.push(reading);
    this.#checkStart(record, reading);
    return reading;
  }

  /** A reader that joins in the middle of a response starts with its text so far, and with no other text. */
  #checkStart({ events }: SimulatedRun, { who, start }: ReaderRecord): void {
    if (start.length === 0) return;
    const shown = new ResponseText();
    for (const event of events) shown.see(event);
    const known = new ResponseText();
    for (const event of start) known.see(event);
    this.#world.expect(
      known.text === shown.text,
      'readers join',
      () =>
        `${who} starts with ${JSON.stringify(known.text)}, but the text so far is ${JSON.stringify(shown.text)}`,
    );
  }

  /** Returns the events that a reader receives although they are past. */
  #past({ events }: SimulatedRun): RunEvent[] {
    return events.filter((event) => isStored(event) || event.type === 'started' || event.type === 'finished');
  }

  #check({ events }: SimulatedRun, reading: ReaderRecord, log: readonly Event[]): void {
    const { who, start, from, left, ended } = reading;
    const due = [...start, ...events.slice(from)];
    const wrong = reading.events.findIndex((event, index) => !isSame(event, due[index]));
    this.#world.expect(
      wrong < 0,
      'readers',
      () =>
        `${who} received ${name(reading.events[wrong])} instead of ${name(due[wrong])} as event ${wrong + 1}`,
    );
    const isWhole = left || (ended && reading.events.length === due.length);
    const got = `${who} received ${reading.events.length} of ${due.length} events`;
    this.#world.expect(isWhole, 'readers', `${got}${ended ? '' : ' and never ended'}`);
    this.#checkFold(reading, log);
  }

  /** Checks that the events of a reader fold to the same state as the log. */
  #checkFold({ who, events }: ReaderRecord, log: readonly Event[]): void {
    const received = events.filter(isStored);
    const [first, last] = [received[0], received.at(-1)];
    if (first === undefined || last === undefined || last.seq > log.length) return;
    const seen = stateOf([...log.slice(0, first.seq - 1), ...received]);
    this.#world.expect(
      seen === stateOf(log.slice(0, last.seq)),
      'readers fold',
      `the events that ${who} received fold to a different state than the log`,
    );
  }
}

function joined(answers: readonly string[]): string {
  return answers.filter((answer) => answer !== '').join('\n\n');
}

function stateOf(events: readonly Event[]): string {
  const state = emptyState();
  for (const event of events) fold(state, event);
  return JSON.stringify(state);
}

function isSame(event: RunEvent, due: RunEvent | undefined): boolean {
  // A response so far consists of new objects for each reader.
  return event === due || JSON.stringify(event) === JSON.stringify(due);
}

function name(event: RunEvent | undefined): string {
  if (event === undefined) return 'nothing';
  return isStored(event) ? `event ${event.seq} (${event.type})` : `${event.type}`;
}

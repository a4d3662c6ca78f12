import type { Tool } from '../interfaces/tool.ts';
import { AgentError } from '../values/errors.ts';
import { amount, callable, read, record, text } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { differenceLines, firstDifference, shortJson } from './difference.ts';
import type { Cassette } from './format.ts';
import { readCassette } from './format.ts';
import { Stillness } from './idle.ts';
import type { RecordedRequest } from './outgoing.ts';
import type { Port, PortPlan, Ports } from './ports.ts';
import { noNetwork } from './recorded-runtime.ts';
import { recordingReaders, turnOf, uniqueName } from './recorder.ts';
import type { Recording } from './recording.ts';
import { createRecording } from './recording.ts';
import { Redaction } from './redaction.ts';

/** Options of {@link player}. */
export interface PlayerOptions {
  /**
   * Selects the tools that run during the replay. Their results arrive when the recorded results did. A different
   * result is a mismatch at the request that contains it. Default: none. The gate is not called again for these
   * tools, so select only tools that you would run without permission.
   */
  readonly liveTools?: (tool: Tool) => boolean;
  /** Secrets that were given to the recorder, so that requests compare as equal. */
  readonly secrets?: readonly string[];
  /** Used for digests and for waiting, which are not part of the run. Default: the real runtime. */
  readonly runtime?: Runtime;
  /** Resolves in a macrotask. Default: the runtime's timer, which takes about a millisecond. */
  readonly turn?: () => Promise<void>;
  /** Maximum time that a run may work without input before it counts as stuck, in milliseconds. Default 10,000. */
  readonly patienceMs?: number;
}

/** A {@link Recording} that replays a cassette. */
export interface Player extends Recording {
  /**
   * The first difference between the replay and the recording: kind `agent`, code `replay_miss`. After that, every
   * model request fails with this error, so the run ends as failed and never uses the network.
   */
  readonly miss: AgentError | undefined;
}

const playerFields = record<PlayerOptions>({ ...recordingReaders, liveTools: callable, patienceMs: amount });

/**
 * Replays a cassette: all inputs arrive as recorded, in the same order and at the same times of the recorded clock,
 * without network access and without delays.
 * @throws AgentError `invalid`, code `cassette`, if the text is not a cassette.
 */
export function player(cassette: string, options: PlayerOptions = {}): Player {
  const given = read(options, playerFields);
  const { runtime = systemRuntime } = given;
  const ports = new ReplayPorts(readCassette(read(cassette, text, 'cassette')), given, runtime);
  const recording = createRecording(ports, { runtime, transport: noNetwork, fetch: noNetwork });
  return {
    ...recording,
    get miss() {
      return ports.mismatch;
    },
  };
}

interface ReplayedPort {
  readonly name: string;
  readonly plan: PortPlan;
  /** True if the real operation runs too; `arrived` is its result. */
  readonly isLive: boolean;
  arrived?: JsonObject;
}

/** The outcome of one step: an input was delivered, nothing is left to do, or the run must act first. */
type PlayerStep = 'done' | 'rest' | 'wait' | 'wait_for_tool';

/**
 * Delivers the inputs of a cassette one by one, each when the run is idle and waiting for it. After a mismatch,
 * everything that waits gets the error, then timers fire in order until the run has ended.
 */
class ReplayPorts implements Ports {
  readonly startedAt: number;
  readonly #cassette: Cassette;
  readonly #options: PlayerOptions;
  readonly #runtime: Runtime;
  readonly #stillness: Stillness;
  readonly #redaction = new Redaction();
  readonly #unasked: RecordedRequest[];
  readonly #lastOf = new Map<string, number>();
  readonly #asked = new Map<string, number>();
  readonly #opened = new Map<string, number>();
  readonly #known = new Set<string>();
  readonly #ports = new Map<string, ReplayedPort>();
  #wake: () => void = () => {};
  #isReplaying = false;
  #hasTimedOut = false;
  #mismatch: AgentError | undefined;
  #next = 0;
  #at = 0;
  #ids = 0;
  #randoms = 0;

  constructor(cassette: Cassette, options: PlayerOptions, runtime: Runtime) {
    this.startedAt = cassette.startedAt;
    this.#cassette = cassette;
    this.#options = options;
    this.#runtime = runtime;
    this.#stillness = new Stillness(options.turn ?? turnOf(runtime));
    this.#redaction.learn(options.secrets ?? []);
    this.#unasked = [...cassette.asked];
    for (const [index, { name }] of cassette.arrivals.entries()) this.#lastOf.set(name, index);
  }

  get at(): number {
    return this.#at;
  }

  get mismatch(): AgentError | undefined {
    return this.#mismatch;
  }

  check(): void {
    if (this.#mismatch !== undefined) throw this.#mismatch;
    const left = this.#cassette.arrivals.slice(this.#next).find(({ name }) => !this.#isIdle(name));
    const name = this.#unasked[0]?.name ?? left?.name;
    if (name !== undefined)
      throw replayError(`The replay has ended, but the cassette continues with ${name}.`);
  }

  id(): string {
    const id = this.#cassette.ids[this.#ids] ?? `replay-${this.#ids + 1}`;
    this.#ids += 1;
    return id;
  }

  random(): number {
    const random = this.#cassette.randoms[this.#randoms] ?? 0.5;
    this.#randoms += 1;
    return random;
  }

  ask(kind: string, given: JsonObject): string {
    if (this.#mismatch !== undefined) throw this.#mismatch;
    const count = (this.#asked.get(kind) ?? 0) + 1;
    this.#asked.set(kind, count);
    const content = this.#redaction.object(given);
    const ofKind = this.#unasked.filter(({ name }) => name.startsWith(`${kind} `));
    const found = ofKind.find((asked) => firstDifference(asked.content, content) === undefined);
    if (found !== undefined) {
      this.#unasked.splice(this.#unasked.indexOf(found), 1);
      return found.name;
    }
    const [recorded] = ofKind;
    const name = `${kind} ${count}`;
    throw this.#diverge(recorded === undefined ? oneMore(name, content) : otherThan(recorded, name, content));
  }

  open(wanted: string, plan: PortPlan): Port {
    const name = uniqueName(this.#opened, wanted);
    const port: ReplayedPort = { name, plan, isLive: plan.live === true };
    this.#known.add(name);
    this.#ports.set(name, port);
    if (port.isLive) plan.start?.((data, more) => this.#arrive(port, data, more), this.#redaction);
    this.#go();
    return {
      put: (data) => this.#putByProgram(port, data),
      close: () => {
        this.#ports.delete(name);
        this.#wake();
      },
    };
  }

  fact<Value>(name: string, make: () => Value): Value {
    const { facts } = this.#cassette;
    return facts.has(name) ? (facts.get(name) as Value) : make();
  }

  learn(secrets: readonly string[]): void {
    this.#redaction.learn(secrets);
  }

  isLive(tool: Tool): boolean {
    return this.#options.liveTools?.(tool) ?? false;
  }

  during<Value>(work: Promise<Value>): Promise<Value> {
    return this.#stillness.during(work);
  }

  #arrive(port: ReplayedPort, data: JsonObject, more = false): void {
    if (this.#ports.get(port.name) !== port) return;
    if (more) return port.plan.take(data);
    port.arrived = data;
    this.#wake();
  }

  /** Handles an action of the program on its run. If it was recorded, the cassette repeats it; otherwise it is a mismatch. */
  #putByProgram(port: ReplayedPort, given: JsonObject): void {
    const { arrivals } = this.#cassette;
    const data = this.#redaction.object(given);
    const isRecorded = arrivals.some(
      (arrival) => arrival.name === port.name && firstDifference(arrival.data, data) === undefined,
    );
    if (isRecorded) return;
    this.#diverge(
      replayError(
        `The program performed an action on ${port.name} that was not recorded: ${shortJson(data)}`,
      ),
    );
    port.plan.take(given);
  }

  #diverge(error: AgentError): AgentError {
    this.#mismatch ??= error;
    this.#go();
    return this.#mismatch;
  }

  #go(): void {
    this.#wake();
    if (!this.#isReplaying) void this.#replay();
  }

  async #replay(): Promise<void> {
    this.#isReplaying = true;
    for (;;) {
      await this.#stillness.untilReached();
      const step = this.#mismatch === undefined ? this.#step() : this.#windUp(this.#mismatch);
      if (step === 'rest') break;
      if (step === 'done') this.#hasTimedOut = false;
      else if (step === 'wait' && this.#hasTimedOut) this.#diverge(this.#stuck());
      else await this.#untilWoken(step === 'wait');
    }
    this.#isReplaying = false;
  }

  #step(): PlayerStep {
    const arrival = this.#cassette.arrivals[this.#next];
    const port = arrival && this.#ports.get(arrival.name);
    if (arrival === undefined || port === undefined) {
      if (arrival === undefined || !this.#isIdle(arrival.name)) return this.#isAwaited() ? 'wait' : 'rest';
      this.#next += 1;
      return 'done';
    }
    const isLast = this.#lastOf.get(port.name) === this.#next;
    if (port.isLive && isLast && port.arrived === undefined) return 'wait_for_tool';
    this.#next += 1;
    if (port.isLive && !isLast) return 'done';
    this.#at = arrival.at;
    port.plan.take(port.arrived ?? arrival.data);
    return 'done';
  }

  /** Passes the error to the next port that waits. If none waits, advances the clock to the next timer. */
  #windUp(error: AgentError): PlayerStep {
    const ports = [...this.#ports.values()];
    const waiting = ports.find((port) => isAwaited(port) && port.plan.fail !== undefined);
    if (waiting !== undefined) {
      this.#ports.delete(waiting.name);
      waiting.plan.fail?.(error);
      return 'done';
    }
    const [timer] = ports
      .filter(({ plan }) => plan.dueAt !== undefined)
      .toSorted((one, other) => (one.plan.dueAt ?? 0) - (other.plan.dueAt ?? 0));
    if (timer === undefined) return 'rest';
    this.#at = Math.max(this.#at, timer.plan.dueAt ?? 0);
    timer.plan.take({});
    return 'done';
  }

  /** Returns whether a recorded input can be skipped: its port was closed, or it is a timer that this run did not start. */
  #isIdle(name: string): boolean {
    return name.startsWith('timer ') || (this.#known.has(name) && !this.#ports.has(name));
  }

  #isAwaited(): boolean {
    return [...this.#ports.values()].some((port) => isAwaited(port) || port.plan.dueAt !== undefined);
  }

  /** Resolves when a port opens or closes, when input arrives, or, if `inTime` is true, after `patienceMs`. */
  async #untilWoken(inTime: boolean): Promise<void> {
    const { patienceMs = 10_000 } = this.#options;
    await new Promise<void>((resolve) => {
      const onTimeout = () => {
        this.#hasTimedOut = true;
        resolve();
      };
      const takeBack = inTime ? this.#runtime.timer(patienceMs, onTimeout) : () => {};
      this.#wake = () => {
        takeBack();
        resolve();
      };
    });
    this.#wake = () => {};
  }

  #stuck(): AgentError {
    const arrival = this.#cassette.arrivals[this.#next];
    const waiting = [...this.#ports.values()].filter(isAwaited).map(({ name }) => name);
    const forWhat = waiting.length === 0 ? 'time to pass' : waiting.join(', ');
    return arrival === undefined
      ? replayError(`The cassette has ended, but the run is still waiting for ${forWhat}.`)
      : replayError(`The cassette continues with ${arrival.name}, but the run is waiting for ${forWhat}.`);
  }
}

function isAwaited({ plan }: ReplayedPort): boolean {
  return plan.fail !== undefined && (plan.awaited?.() ?? true);
}

/** Creates the error of a replay that differs from the recording. The replay ends, because later inputs would not match. */
function replayError(message: string): AgentError {
  return new AgentError({ kind: 'agent', code: 'replay_miss', message });
}

/** Creates the error for a request that differs from the recorded one. */
function otherThan(recorded: RecordedRequest, name: string, content: JsonObject): AgentError {
  const difference = firstDifference(recorded.content, content);
  const lines = difference === undefined ? [] : differenceLines(difference);
  const place = lines.length === 0 ? '' : `The first difference is ${lines.join('\n')}`;
  const others = differentFields(recorded.content, content).slice(1);
  const more = others.length === 0 ? [] : [`Also different: ${others.join(', ')}.`];
  return replayError(
    [`${name} in the replay differs from ${recorded.name} in the cassette.`, place, ...more].join('\n'),
  );
}

/** Creates the error for a request that the cassette does not contain. */
function oneMore(name: string, content: JsonObject): AgentError {
  return replayError(`The cassette contains no recording of ${name}:\n  ${gist(content)}`);
}

function differentFields(recorded: JsonObject, now: JsonObject): string[] {
  const names = [...new Set([...Object.keys(recorded), ...Object.keys(now)])];
  return names.filter((name) => {
    const [before, after] = [recorded[name], now[name]];
    if (before === undefined || after === undefined) return true;
    return firstDifference(before, after) !== undefined;
  });
}

/** Returns the newest part of a request: the last item of its last list, or all of it. */
function gist(content: JsonObject): string {
  for (const [name, value] of Object.entries(content).toReversed()) {
    const last = Array.isArray(value) ? value.at(-1) : undefined;
    if (last !== undefined) return `${name}: … ${shortJson(last, 300)}`;
  }
  return shortJson(content, 300);
}

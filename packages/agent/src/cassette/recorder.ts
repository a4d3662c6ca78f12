import { defaultTransport } from '#transport';
import type { Transport } from '../provider/wire/transport.ts';
import type { Readers } from '../values/input.ts';
import { callable, listOf, read, record, text, withMethods } from '../values/input.ts';
import type { JsonObject } from '../values/json.ts';
import type { Runtime } from '../values/runtime.ts';
import { systemRuntime } from '../values/runtime.ts';
import { arrivalLine, headLine } from './format.ts';
import { Stillness } from './idle.ts';
import type { RecordedRequest } from './outgoing.ts';
import { outLine } from './outgoing.ts';
import { plain } from './plain.ts';
import type { Port, PortPlan, Ports } from './ports.ts';
import type { Recording } from './recording.ts';
import { createRecording } from './recording.ts';
import { Redaction } from './redaction.ts';

/** Options of {@link recorder}. */
export interface RecorderOptions {
  /** Receives the cassette line by line, each with its line break. */
  readonly write: (line: string) => void;
  /**
   * Secrets of at least eight characters, in addition to the keys in request headers, which are always recognized.
   * They are removed from everything that is written and from all inputs.
   */
  readonly secrets?: readonly string[];
  /** The runtime to record. Default: the real clock, random numbers and network. */
  readonly runtime?: Runtime;
  /** The transport to record. Default: the fastest one of the platform. */
  readonly transport?: Transport;
  /** Resolves in a macrotask. Default: the runtime's timer, which takes about a millisecond. */
  readonly turn?: () => Promise<void>;
}

/** The readers of the options that a recorder and a player share. */
export const recordingReaders: Readers<Pick<RecorderOptions, 'secrets' | 'runtime' | 'turn'>> = {
  secrets: listOf(text),
  runtime: withMethods('now', 'monotonic', 'timer', 'random', 'id', 'digest', 'fetch'),
  turn: callable,
};

const recorderFields = record<RecorderOptions>(
  { ...recordingReaders, write: callable, transport: callable },
  ['write'],
);

/** Records all inputs of a run. */
export function recorder(options: RecorderOptions): Recording {
  const given = read(options, recorderFields);
  const { runtime = systemRuntime } = given;
  const transport = given.transport ?? defaultTransport(runtime);
  return createRecording(new RecordingPorts(given, runtime), { runtime, transport, fetch: runtime.fetch });
}

/** Returns a function that resolves in a macrotask of the runtime. */
export function turnOf(runtime: Runtime): () => Promise<void> {
  return () => new Promise((resolve) => void runtime.timer(0, resolve));
}

interface RecordedPort {
  readonly name: string;
  readonly plan: PortPlan;
  isOpen: boolean;
}

/** Delivers inputs one at a time and writes each to the cassette. */
class RecordingPorts implements Ports {
  readonly startedAt: number;
  readonly #write: (line: string) => void;
  readonly #runtime: Runtime;
  readonly #stillness: Stillness;
  readonly #redaction = new Redaction();
  readonly #zero: number;
  readonly #asked = new Map<string, number>();
  readonly #opened = new Map<string, number>();
  readonly #facts = new Map<string, unknown>();
  readonly #waiting: { readonly port: RecordedPort; readonly data: JsonObject }[] = [];
  #lastRequest: RecordedRequest | undefined;
  #isLettingIn = false;
  #at = 0;

  constructor({ write, secrets = [], turn }: RecorderOptions, runtime: Runtime) {
    this.#write = write;
    this.#runtime = runtime;
    this.#stillness = new Stillness(turn ?? turnOf(runtime));
    this.#redaction.learn(secrets);
    this.startedAt = Math.floor(runtime.now());
    this.#zero = runtime.monotonic();
    this.#line(headLine(this.startedAt));
  }

  get at(): number {
    return this.#at;
  }

  id(): string {
    const id = this.#runtime.id();
    this.#line({ id });
    return id;
  }

  random(): number {
    const random = this.#runtime.random();
    this.#line({ random });
    return random;
  }

  ask(kind: string, given: JsonObject): string {
    const count = (this.#asked.get(kind) ?? 0) + 1;
    this.#asked.set(kind, count);
    const asked: RecordedRequest = { name: `${kind} ${count}`, content: this.#redaction.object(given) };
    this.#line(outLine(asked, kind === 'request' ? this.#lastRequest : undefined));
    if (kind === 'request') this.#lastRequest = asked;
    return asked.name;
  }

  open(wanted: string, plan: PortPlan): Port {
    const port: RecordedPort = { name: uniqueName(this.#opened, wanted), plan, isOpen: true };
    const put = (data: JsonObject) => {
      if (!port.isOpen) return;
      this.#waiting.push({ port, data });
      if (!this.#isLettingIn) void this.#letIn();
    };
    plan.start?.(put, this.#redaction);
    return {
      put,
      close: () => {
        port.isOpen = false;
      },
    };
  }

  fact<Value>(name: string, make: () => Value): Value {
    if (!this.#facts.has(name)) {
      const value = this.#redaction.json(plain(make()));
      this.#facts.set(name, value);
      this.#line({ fact: name, value });
    }
    return this.#facts.get(name) as Value;
  }

  learn(secrets: readonly string[]): void {
    this.#redaction.learn(secrets);
  }

  isLive(): boolean {
    return true;
  }

  /** Does nothing: a recording cannot differ from itself. */
  check(): void {}

  during<Value>(work: Promise<Value>): Promise<Value> {
    return this.#stillness.during(work);
  }

  async #letIn(): Promise<void> {
    this.#isLettingIn = true;
    await this.#stillness.untilReached();
    for (let next = this.#waiting.shift(); next !== undefined; next = this.#waiting.shift()) {
      const { port, data } = next;
      // The port was closed in the meantime, so its input is dropped.
      if (!port.isOpen) continue;
      const clean = this.#redaction.object(data);
      this.#at = this.#now(port.plan.dueAt ?? 0);
      this.#line(arrivalLine({ at: this.#at, name: port.name, data: clean }));
      port.plan.take(clean);
      await this.#stillness.untilReached();
    }
    this.#isLettingIn = false;
  }

  /** Returns the recorded time in milliseconds, rounded to microseconds. It never goes back, and no timer fires early. */
  #now(notBefore: number): number {
    const elapsed = Math.round((this.#runtime.monotonic() - this.#zero) * 1000) / 1000;
    return Math.max(this.#at, elapsed, notBefore);
  }

  #line(line: JsonObject): void {
    this.#write(`${JSON.stringify(line)}\n`);
  }
}

/** Returns a name that is the same for the same port in every replay: repeated names get a number. */
export function uniqueName(opened: Map<string, number>, wanted: string): string {
  const count = (opened.get(wanted) ?? 0) + 1;
  opened.set(wanted, count);
  return count === 1 ? wanted : `${wanted} #${count}`;
}

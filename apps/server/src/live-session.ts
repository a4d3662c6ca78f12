import type { Event, Harness, Run, RunEvent, SessionStore, TakeUpOptions, UserPart } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import { Broadcast } from './broadcast.ts';
import { Problem, problemOf } from './problem.ts';

/** A run that was begun, and the event it began with. */
export interface Accepted {
  readonly sessionId: string;
  readonly runId: string;
  readonly seq: number;
}

/** What is said to a session. */
export type Content = string | readonly UserPart[];

/** What was said under a run's id, and where it stands. */
interface KnownRun {
  readonly seq: number;
  readonly content: string;
}

/** One session in memory: its conversation, and everybody who watches it. */
export class LiveSession {
  readonly id: string;
  readonly broadcast: Broadcast;
  /** When it was last asked for, on a clock that never goes back. */
  usedAt = 0;
  readonly #store: SessionStore;
  readonly #harness: Harness;
  readonly #starting = new Map<string, Promise<Accepted>>();
  #known: Map<string, KnownRun> | undefined;
  #run: Run | undefined;

  /** @param open makes the conversation; it tells every event to the function it is given. */
  constructor(id: string, store: SessionStore, open: (onEvent: (event: RunEvent) => void) => Harness) {
    this.id = id;
    this.#store = store;
    this.broadcast = new Broadcast((afterSeq) => store.read(id, afterSeq));
    this.#harness = open((event) => this.#hear(event));
  }

  /** The run under way. */
  get run(): Run | undefined {
    return this.#run;
  }

  /** Whether nothing is lost when it is put away. */
  get isIdle(): boolean {
    return this.#run === undefined && this.broadcast.size === 0 && this.#starting.size === 0;
  }

  /**
   * Says something. Resolves once it is committed. Under the id of a run that was begun before it begins
   * nothing: it gives that run.
   * @throws Problem 409 `busy`, or `other_content` for an id under which something else was said.
   */
  async prompt(content: Content, runId?: string): Promise<Accepted> {
    if (runId === undefined) return await this.#begun(this.#harness.prompt(content));
    const before = (await this.#knownRuns()).get(runId);
    if (before !== undefined) return this.#again(before, content, runId);
    const starting = this.#starting.get(runId);
    if (starting !== undefined) {
      const accepted = await starting;
      return this.#again({ seq: accepted.seq, content: await this.#contentOf(runId) }, content, runId);
    }
    const begun = this.#begun(this.#harness.prompt(content, { runId }));
    this.#starting.set(runId, begun);
    try {
      return await begun;
    } finally {
      this.#starting.delete(runId);
    }
  }

  /** Goes on with what was cut off or waits. Resolves once that is committed. */
  async resume(options: TakeUpOptions = {}): Promise<Accepted> {
    return await this.#begun(this.#harness.resume(options));
  }

  /** False when no run hears it. */
  steer(content: Content): boolean {
    return this.#harness.steer(content);
  }

  /** Begins another session like this one. */
  async fork(upToSeq: number | undefined): Promise<string> {
    const fork = await this.#harness.fork(upToSeq === undefined ? {} : { upToSeq });
    return fork.sessionId;
  }

  /** Stops what is under way and lets nobody begin anything more. */
  async close(): Promise<void> {
    await this.#harness.close();
  }

  #hear(event: RunEvent): void {
    if (event.type === 'user' && event.steer !== true) this.#note(event);
    this.broadcast.publish(event);
  }

  #note(event: Extract<Event, { type: 'user' }>): void {
    this.#known?.set(event.runId, { seq: event.seq, content: JSON.stringify(event.content) });
  }

  async #begun(run: Run): Promise<Accepted> {
    const other = this.#run;
    if (other === undefined) this.#watch(run);
    for await (const event of run) {
      if (!isStored(event)) continue;
      if (event.type === 'finished') break;
      this.#watch(run);
      return { sessionId: this.id, runId: run.id, seq: event.seq };
    }
    const { error } = await run.result;
    throw problemOf(error, error?.code === 'busy' && other !== undefined ? { runId: other.id } : {});
  }

  #watch(run: Run): void {
    this.#run = run;
    void run.result.then(() => {
      if (this.#run === run) this.#run = undefined;
    });
  }

  #again(before: KnownRun, content: Content, runId: string): Accepted {
    const said = typeof content === 'string' ? [{ type: 'text', text: content }] : content;
    if (JSON.stringify(said) === before.content) return { sessionId: this.id, runId, seq: before.seq };
    throw new Problem(
      409,
      'other_content',
      'This Idempotency-Key was used for another prompt of the session.',
      {
        extra: { runId },
      },
    );
  }

  async #contentOf(runId: string): Promise<string> {
    return (await this.#knownRuns()).get(runId)?.content ?? '';
  }

  /** The prompts of the session by their run. Read from the log once, and only when somebody gives a key. */
  async #knownRuns(): Promise<Map<string, KnownRun>> {
    if (this.#known !== undefined) return this.#known;
    const events = await this.#store.read(this.id);
    this.#known ??= new Map();
    for (const event of events) {
      if (event.type === 'user' && event.steer !== true) this.#note(event);
    }
    return this.#known;
  }
}

import type { Event, Run, RunEvent, UserPart } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import type {
  FollowedRun,
  ForkOptions,
  Harness,
  HarnessCapabilities,
  HarnessResumeOptions,
  PromptOptions,
  SharedStore,
} from '@cobbler/agent/harness';
import { followRun, receiveRequests } from '@cobbler/agent/harness';
import type { Io } from '../terminal/io.ts';

/** Interval of looks for events of other processes, in milliseconds. */
const pollMs = 500;

/** What a conversation shares with other processes. */
export interface JoinedHarnessOptions {
  readonly store: SharedStore;
  readonly clock: Io['clock'];
  /** The last event that the conversation has shown, by session. Without one, nothing is followed yet. */
  readonly shown: Map<string, number>;
  /** Receives the events of other processes. Absent: they are not followed. */
  readonly onEvent?: (event: RunEvent) => void;
  /** Receives each message that the run of another process has ended without. */
  readonly onUnread?: (content: string | readonly UserPart[]) => void;
}

/** Returns the session of a stored event. */
export function sessionOf({ id }: { readonly id: string }): string {
  return id.slice(0, id.lastIndexOf('-'));
}

/**
 * A conversation whose session other processes use too: they can steer and cancel its run and decide its approvals, and it
 * shows their runs, which it can control in the same way.
 */
export class JoinedHarness implements Harness {
  readonly #harness: Harness;
  readonly #options: JoinedHarnessOptions;
  #own: Run | undefined;
  #other: FollowedRun | undefined;
  #seen = '';
  #isClosed = false;
  #stop = (): void => {};

  constructor(harness: Harness, options: JoinedHarnessOptions) {
    this.#harness = harness;
    this.#options = options;
    if (options.onEvent !== undefined) this.#wait(options.onEvent);
  }

  get sessionId(): string {
    return this.#harness.sessionId;
  }

  get capabilities(): HarnessCapabilities {
    return this.#harness.capabilities;
  }

  prompt(content: string | readonly UserPart[], options?: PromptOptions): Run {
    return this.#take(this.#harness.prompt(content, options));
  }

  /** Passes decisions to the run of another process if there is one. */
  resume(options: HarnessResumeOptions = {}): Run {
    const { answers = [] } = options;
    const other = this.#other;
    if (other === undefined || answers.length === 0) return this.#take(this.#harness.resume(options));
    for (const { approvalId, ...answer } of answers) other.run.decide(approvalId, answer);
    return other.run;
  }

  steer(content: string | readonly UserPart[]): boolean {
    if (this.#other === undefined) return this.#harness.steer(content);
    void this.#other.steer(content).then((isRead) => isRead || this.#options.onUnread?.(content));
    return true;
  }

  cancel(): boolean {
    return this.#other?.run.cancel() ?? this.#harness.cancel();
  }

  /** The copy is only a way to its id: a conversation opens the session itself. */
  async fork(options?: ForkOptions): Promise<Harness> {
    return await this.#harness.fork(options);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    this.#stop();
    await this.#harness.close();
  }

  #take(run: Run): Run {
    this.#own = run;
    receiveRequests(this.#options.store, run);
    void run.result.then(() => {
      if (this.#own === run) this.#own = undefined;
    });
    return run;
  }

  #wait(onEvent: (event: RunEvent) => void): void {
    this.#stop = this.#options.clock.after(pollMs, async () => {
      // A busy store is free later.
      await this.#look(onEvent).catch(() => undefined);
      if (!this.#isClosed) this.#wait(onEvent);
    });
  }

  /** Shows the events of other processes. Its own run shows its own events. */
  async #look(onEvent: (event: RunEvent) => void): Promise<void> {
    const { store, shown } = this.#options;
    const version = store.version();
    if (version === this.#seen) return;
    const last = shown.get(this.sessionId);
    if (last === undefined || this.#own !== undefined) return;
    if (this.#other === undefined) await this.#follow(onEvent);
    for (const event of await store.read(this.sessionId, last)) this.#show(event, onEvent);
    if (this.#own === undefined) this.#seen = version;
  }

  /** Shows an event, unless it was shown, or its own run has started meanwhile. */
  #show(event: Event, onEvent: (event: RunEvent) => void): void {
    const { shown } = this.#options;
    if (this.#own !== undefined || this.#isClosed || event.seq !== (shown.get(this.sessionId) ?? 0) + 1)
      return;
    shown.set(this.sessionId, event.seq);
    if (event.type === 'finished') this.#other = undefined;
    onEvent(event);
  }

  async #follow(onEvent: (event: RunEvent) => void): Promise<void> {
    const other = await followRun(this.#options.store, this.sessionId);
    this.#other = other;
    if (other === undefined) return;
    // Its end must be shown before its result arrives.
    other.run.subscribe((event) => {
      if (isStored(event)) this.#show(event, onEvent);
      else if (event.type === 'finished') onEvent(event);
    });
    void other.run.result.then(() => {
      if (this.#other === other) this.#other = undefined;
    });
  }
}

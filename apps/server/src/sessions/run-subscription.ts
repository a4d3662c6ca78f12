import type { RunEvent } from '@cobbler/agent';
import { isStored } from '@cobbler/agent';
import { mayAccess } from '../auth/access.ts';
import type { TokenInfo } from '../auth/token-store.ts';
import type { LiveSession } from './live-session.ts';

/**
 * Subscribes to a session from before a run starts until one has ended, so that no event of the run is missed. Its
 * first text may arrive while its start is still being committed. It also ends when the session belongs to another
 * user.
 */
export class RunSubscription implements AsyncIterable<RunEvent> {
  /** Ends the subscription before a run has ended. */
  readonly stop: () => void;
  #received: RunEvent[] = [];
  #isOver = false;
  #wake: () => void = () => undefined;

  constructor(session: LiveSession, token: TokenInfo | undefined) {
    this.stop = session.listen((event) => {
      const isOpen = mayAccess(token, session);
      if (isOpen) this.#received.push(event);
      if (!isOpen || event.type === 'finished') {
        this.#isOver = true;
        this.stop();
      }
      this.#wake();
    });
  }

  /** True if the stored event with this number is waiting to be read. */
  has(seq: number): boolean {
    return this.#received.some((event) => isStored(event) && event.seq === seq);
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<RunEvent> {
    try {
      for (;;) {
        const batch = this.#received;
        this.#received = [];
        yield* batch;
        if (this.#received.length > 0) continue;
        if (this.#isOver) return;
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    } finally {
      this.stop();
    }
  }
}

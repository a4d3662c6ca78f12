import { AgentError } from '../values/errors.ts';
import type { Runtime } from '../values/runtime.ts';
import type { Deck } from './ports.ts';

/**
 * The runtime of a taped run. Its clocks stand still between two things that come in, so that what a run reads
 * follows from what has come in and not from how fast the machine is. A timer that fires is one of these things.
 */
export function tapedRuntime(deck: Deck, real: Runtime, fetch: Runtime['fetch']): Runtime {
  let digests: Promise<unknown> = Promise.resolve();
  return {
    now: () => deck.startedAt + Math.floor(deck.at),
    monotonic: () => deck.at,
    timer(ms, fire) {
      const dueAt = deck.at + Math.max(ms, 0);
      let takeBack = () => {};
      const port = deck.open(`timer ${dueAt}`, {
        dueAt,
        take() {
          port.close();
          fire();
        },
        start(put) {
          takeBack = real.timer(ms, () => put({}));
        },
      });
      return () => {
        port.close();
        takeBack();
      };
    },
    random: () => deck.random(),
    id: () => deck.id(),
    digest(text) {
      // Always the same for the same text, so it is not taped; one after another, because their lengths are not.
      const digest = digests.then(() => real.digest(text));
      digests = digest.catch(() => undefined);
      return deck.during(digest);
    },
    fetch,
  };
}

/** What a replay has for a network. */
export function noNetwork(): Promise<never> {
  const message = 'A replay has no network: what is fetched must go through the tape.';
  return Promise.reject(new AgentError({ kind: 'agent', code: 'replay_miss', message }));
}

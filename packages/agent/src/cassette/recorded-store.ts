import type { Store } from '../store/store.ts';
import type { Deck } from './ports.ts';

/**
 * A store whose moments are taped: when it is done decides which events are stored together and with which
 * time. What it keeps is its own, on a replay too. One that is done at once needs no tape.
 */
export function tapedStore(deck: Deck, store: Store): Store {
  return {
    claim: (sessionId, origin) => timed(deck, 'claim', sessionId, store.claim(sessionId, origin)),
    append: (sessionId, events, writer) =>
      timed(deck, 'append', sessionId, store.append(sessionId, events, writer)),
    read: (sessionId, afterSeq, limit) =>
      timed(deck, 'read', sessionId, store.read(sessionId, afterSeq, limit)),
    sessions: () => store.sessions(),
  };
}

/** What the store gives, no sooner than the tape lets it come in. */
function timed<Value>(
  deck: Deck,
  kind: string,
  session: string,
  result: Value | Promise<Value>,
): Value | Promise<Value> {
  if (!(result instanceof Promise)) return result;
  const name = deck.ask(kind, { session });
  return new Promise((resolve) => {
    const letIn = () => {
      port.close();
      resolve(result);
    };
    const port = deck.open(name, {
      live: true,
      take: letIn,
      fail: letIn,
      start(put) {
        const done = () => put({ done: true });
        result.then(done, done);
      },
    });
  });
}

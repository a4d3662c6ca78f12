import type { Blobs } from '../interfaces/blobs.ts';
import type { Gate, Verdict } from '../interfaces/gate.ts';
import { askForVerdict, readVerdict } from '../interfaces/verdict.ts';
import { joinBytes } from '../provider/http/bytes.ts';
import type { Transport } from '../provider/wire/transport.ts';
import type { Wire } from '../provider/wire/wire.ts';
import type { Store } from '../store/store.ts';
import { taped } from './effect.ts';
import { plain } from './plain.ts';
import type { Deck } from './ports.ts';

/**
 * Blobs for a taped run. What they hold follows from the run, so nothing of it is on the tape; only does nothing
 * else come in while they are at work, because how long that takes is no part of the run.
 */
export function tapedBlobs(deck: Deck, blobs: Blobs): Blobs {
  return {
    put: (id, bytes) => waited(deck, blobs.put(id, bytes)),
    get: (id, range) => waited(deck, blobs.get(id, range)),
  };
}

function waited<Value>(deck: Deck, work: Value | Promise<Value>): Value | Promise<Value> {
  return work instanceof Promise ? deck.during(work) : work;
}

/** A gate whose verdicts are taped. On a replay it is not asked. */
export function tapedGate(deck: Deck, gate: Gate): Gate {
  return async (call, context) => {
    const { id, toolName, subject } = call;
    const name = deck.ask('verdict', { tool: toolName, call: id, subject, session: context.session });
    return await taped<Verdict>(deck, name, {
      awaited: () => !context.signal.aborted,
      // What is taped is what was read, so that a replay decides the same.
      run: () => askForVerdict(() => gate(call, context)),
      write: (verdict) => ({ verdict: plain(verdict) }),
      read: ({ verdict }) => readVerdict(verdict),
    });
  };
}

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

/** Takes the place of an address: whoever sends through a vendor's client keeps it to itself. */
const clientAddress = 'https://client.invalid/';

/**
 * A wire whose own way of sending is taped. One that leaves sending to the kit stays as it is: its requests go
 * through the tape's transport.
 *
 * @param over makes a taped transport of a real one.
 */
export function tapedWire(wire: Wire, over: (real: Transport) => Transport): Wire {
  const { send } = wire;
  if (send === undefined) return wire;
  const transport = over(({ body, headers, signal }) =>
    send.call(wire, joinBytes(body), { headers, signal }),
  );
  return {
    ...wire,
    send: (body, { headers, signal }) => transport({ url: clientAddress, headers, body: [body], signal }),
  };
}

import type { Blobs } from '../interfaces/blobs.ts';
import type { Gate, Verdict } from '../interfaces/gate.ts';
import { askForVerdict, readVerdict } from '../interfaces/verdict.ts';
import { joinBytes } from '../provider/http/bytes.ts';
import type { Transport } from '../provider/wire/transport.ts';
import type { Wire } from '../provider/wire/wire.ts';
import type { Store } from '../store/store.ts';
import { runEffect } from './effect.ts';
import { plain } from './plain.ts';
import type { Ports } from './ports.ts';

/**
 * Wraps the blobs of a recorded run. Their content follows from the run, so it is not recorded. Inputs wait until an
 * operation on them has finished, because its duration is not part of the run.
 */
export function recordedBlobs(ports: Ports, blobs: Blobs): Blobs {
  return {
    put: (id, bytes) => holdInputsDuring(ports, blobs.put(id, bytes)),
    get: (id, range) => holdInputsDuring(ports, blobs.get(id, range)),
  };
}

function holdInputsDuring<Value>(ports: Ports, work: Value | Promise<Value>): Value | Promise<Value> {
  return work instanceof Promise ? ports.during(work) : work;
}

/** A gate whose verdicts are recorded. During a replay, the original gate is not called. */
export function recordedGate(ports: Ports, gate: Gate): Gate {
  return async (call, context) => {
    const { id, toolName, subject } = call;
    const name = ports.ask('verdict', { tool: toolName, call: id, subject, session: context.session });
    return await runEffect<Verdict>(ports, name, {
      awaited: () => !context.signal.aborted,
      // Records the verdict after it was checked, so that a replay makes the same decision.
      run: () => askForVerdict(() => gate(call, context)),
      write: (verdict) => ({ verdict: plain(verdict) }),
      read: ({ verdict }) => readVerdict(verdict),
    });
  };
}

/**
 * Wraps a store so that the times at which its operations complete are recorded. These times determine which events
 * are stored together and with which timestamp. The store keeps its own data, also during a replay. Synchronous
 * operations are not recorded.
 */
export function recordedStore(ports: Ports, store: Store): Store {
  return {
    claim: (sessionId, origin) => atRecordedTime(ports, 'claim', sessionId, store.claim(sessionId, origin)),
    append: (sessionId, events, writer) =>
      atRecordedTime(ports, 'append', sessionId, store.append(sessionId, events, writer)),
    read: (sessionId, afterSeq, limit) =>
      atRecordedTime(ports, 'read', sessionId, store.read(sessionId, afterSeq, limit)),
    sessions: () => store.sessions(),
  };
}

/** Resolves with the store's result at the recorded time. */
function atRecordedTime<Value>(
  ports: Ports,
  kind: string,
  session: string,
  result: Value | Promise<Value>,
): Value | Promise<Value> {
  if (!(result instanceof Promise)) return result;
  const name = ports.ask(kind, { session });
  return new Promise((resolve) => {
    const letIn = () => {
      port.close();
      resolve(result);
    };
    const port = ports.open(name, {
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

/** Placeholder URL for requests sent by a vendor's client, which does not reveal the real URL. */
const clientAddress = 'https://client.invalid/';

/**
 * Wraps a wire that has its own `send` method so that its traffic is recorded. A wire without one is returned
 * unchanged: its requests use the transport of the recording.
 *
 * @param over Returns a recorded transport for a real one.
 */
export function recordedWire(wire: Wire, over: (real: Transport) => Transport): Wire {
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

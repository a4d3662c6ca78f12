import { joinBytes } from '../provider/http/bytes.ts';
import type { Transport } from '../provider/wire/transport.ts';
import type { Wire } from '../provider/wire/wire.ts';

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

import type { Socket } from 'node:net';
import { connect, isIP } from 'node:net';

/** Connects to the first of these addresses that responds. */
export function connectTo(addresses: readonly string[], port: number): Socket {
  const all = addresses.map((address) => ({ address, family: isIP(address) }));
  return connect({
    host: 'resolved',
    port,
    allowHalfOpen: true,
    autoSelectFamily: true,
    lookup: (_host, _options, done) => done(null, all),
  });
}

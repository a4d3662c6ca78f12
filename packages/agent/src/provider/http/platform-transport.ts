import { defaultTransport } from '#transport';
import type { Runtime } from '../../values/runtime.ts';
import type { Transport } from '../wire/transport.ts';

/**
 * The fastest way to send on this platform: what `createAgent` takes when it is given no transport. For wires that
 * send by themselves.
 */
export function platformTransport(runtime: Runtime): Transport {
  return defaultTransport(runtime);
}

import { defaultTransport } from '#transport';
import type { Runtime } from '../../values/runtime.ts';
import type { Transport } from '../wire/transport.ts';

/**
 * Returns the fastest transport of this platform, which is the default of `createAgent`. For wires that implement
 * `send`.
 */
export function platformTransport(runtime: Runtime): Transport {
  return defaultTransport(runtime);
}

/**
 * A harness whose conversation runs on a Cobbler server.
 *
 * @module
 */

export { connectHarness } from './remote-harness.ts';
export type { RemoteOptions } from './remote-options.ts';

/**
 * A harness whose conversation runs on a Cobbler server.
 *
 * @module
 */

export { connectHarness, type RemoteOptions } from './remote-harness.ts';

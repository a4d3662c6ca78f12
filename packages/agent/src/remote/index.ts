/**
 * A harness whose conversation is held by a Cobbler server somewhere else.
 *
 * @module
 */

export { connectHarness, type RemoteOptions } from './remote-harness.ts';

export { connectHarness, type RemoteOptions } from './remote-harness.ts';

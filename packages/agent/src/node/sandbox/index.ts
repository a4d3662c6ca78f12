/**
 * Sandboxes of the operating system for the programs that tools start, and the reader of the command lines that start them.
 *
 * @module
 */

export { type AllowedHost, allowedHost, allowsUrl, parseAllowedHost } from '../allowed-host.ts';
export {
  type CommandLine,
  type CommandOperator,
  type CommandStep,
  printCommandLine,
  readCommandLine,
} from '../command-line.ts';
export type { ProgramStart, Sandbox, SandboxAccess, SandboxedStart } from '../process/sandbox.ts';
export { isGitLine } from './git.ts';
export type { HostConnection, HostNetwork } from './host-proxy.ts';
export type { SandboxOptions } from './options.ts';
export { probeSandbox, probeSandboxSync, type SandboxStatus } from './probe.ts';
export { isPublicAddress } from './public-address.ts';
export { isRegistryLine } from './registry.ts';
export { bwrapSandbox, createSandbox, noRestrictions, seatbeltSandbox } from './sandbox.ts';

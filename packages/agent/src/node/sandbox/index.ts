/**
 * Sandboxes of the operating system for the programs that tools start.
 *
 * @module
 */

export type { ProgramStart, Sandbox, SandboxAccess, SandboxedStart } from '../process/sandbox.ts';
export { isGitLine } from './git.ts';
export type { SandboxOptions } from './options.ts';
export { probeSandbox, probeSandboxSync, type SandboxStatus } from './probe.ts';
export { bwrapSandbox, createSandbox, noRestrictions, seatbeltSandbox } from './sandbox.ts';

import type { Reader } from '../../values/input.ts';
import { amount, flag, listOf, mapOf, oneOf, optional, record, text } from '../../values/input.ts';
import { argv } from '../process/process-options.ts';
import type { ProgramStart, SandboxAccess } from '../process/sandbox.ts';
import type { HostNetwork } from './host-proxy.ts';
import { hostNetwork } from './host-proxy.ts';

/** The restrictions of a sandbox. */
export interface SandboxOptions {
  /** The directory that programs work in. */
  readonly workspace: string;
  /** `workspace`: programs can write in the workspace. `strict`: they cannot. Default `workspace`. */
  readonly mode?: 'workspace' | 'strict';
  /** Names the home directory and the programs. Default: the environment of this process. */
  readonly env?: Readonly<Record<string, string | undefined>>;
  /** A directory that becomes the home directory of programs and keeps their caches. Default: a temporary one. */
  readonly home?: string;
  /**
   * Allows network connections: all of them, or those to some hosts, for which programs get a proxy. Default false:
   * programs reach only each other, over loopback.
   */
  readonly network?: boolean | HostNetwork;
  /** Allows changes of git's data, but not of its hooks and configuration. Default false. */
  readonly git?: boolean;
  /** Further paths that programs can read, although they are in the home directory. */
  readonly read?: readonly string[];
  /** Further directories that programs can write. */
  readonly write?: readonly string[];
  /**
   * Files and directories directly in those of `write` that programs can only read. Those that programs create are
   * renamed when they end.
   */
  readonly locked?: readonly string[];
  /** Further names of files that other programs execute or obey, in lower case. */
  readonly guarded?: readonly string[];
  /** Allows programs to create sandboxes of their own. Default false. */
  readonly nested?: boolean;
  /** Maximum number of processes. Not enforced for root. Default 4,096. */
  readonly maxProcesses?: number;
  /** Maximum memory of one process, in bytes. Default: that of the machine. */
  readonly maxMemoryBytes?: number;
}

/** Reads the options of a sandbox. */
export const sandboxOptions: Reader<SandboxOptions> = record<SandboxOptions>(
  {
    workspace: text,
    mode: oneOf('workspace', 'strict'),
    env: mapOf(optional(text)),
    home: text,
    network: (value) => (typeof value === 'boolean' ? value : hostNetwork(value)),
    git: flag,
    read: listOf(text),
    write: listOf(text),
    locked: listOf(text),
    guarded: listOf(text),
    nested: flag,
    maxProcesses: amount,
    maxMemoryBytes: amount,
  },
  ['workspace'],
);

/** Reads a program to start. */
export const programStart: Reader<ProgramStart> = record<ProgramStart>(
  { argv, cwd: text, env: mapOf(text) },
  [...(['argv', 'cwd', 'env'] as const)],
);

/** Reads additional rights. */
export const sandboxAccess: Reader<SandboxAccess> = record<SandboxAccess>({
  network: flag,
  git: flag,
  registry: flag,
});

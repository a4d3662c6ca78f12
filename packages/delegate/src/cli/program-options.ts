import type { Environment, Runtime } from '@cobbler/agent';
import type { Readers } from '@cobbler/agent/input';
import { amount, flag, mapOf, text, withMethods } from '@cobbler/agent/input';
import type { ProgramSandbox } from './program-sandbox.ts';
import { readProgramSandbox } from './program-sandbox.ts';

/** Common settings of every backend that runs a local program. */
export interface ProgramOptions {
  /**
   * Environment for finding the program and for the variables it receives. Default: the environment of this process.
   */
  readonly env?: Environment;
  /** Additional variables for the program. */
  readonly extraEnv?: Readonly<Record<string, string>>;
  /** Path of the program. Default: searched on the PATH once, when the backend is created. */
  readonly path?: string;
  /** Time limit of one task, including all attempts, in milliseconds. Default 600,000. */
  readonly timeoutMs?: number;
  /** Time between SIGTERM and SIGKILL, in milliseconds. Default 1,500. */
  readonly graceMs?: number;
  /** Maximum number of retries after transient failures. Default 1. */
  readonly retries?: number;
  /** Delay before a retry, in milliseconds; half of it is random. Default 2,000. */
  readonly retryMs?: number;
  /**
   * True if this machine is a sandbox. A superuser can then run Claude Code with permission `bypass`. Default false.
   */
  readonly sandboxed?: boolean;
  /**
   * What the program can read and change, apart from its own permissions. Your own `Sandbox` must allow the network and
   * what the program writes in its own directory. Default: a sandbox if one works on this machine, unless `sandboxed` is
   * set: `strict` with the permission `read-only`, otherwise `workspace`.
   */
  readonly sandbox?: ProgramSandbox;
  readonly runtime?: Runtime;
}

/** The readers of {@link ProgramOptions}. */
export const programReaders: Readers<ProgramOptions> = {
  env: mapOf(text),
  extraEnv: mapOf(text),
  path: text,
  timeoutMs: amount,
  graceMs: amount,
  retries: amount,
  retryMs: amount,
  sandboxed: flag,
  sandbox: readProgramSandbox,
  runtime: withMethods('monotonic', 'timer', 'random'),
};

export const defaultTimeoutMs = 600_000;

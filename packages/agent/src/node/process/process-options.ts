import type { ChildProcess, SpawnOptions } from 'node:child_process';
import type { Reader } from '../../values/input.ts';
import {
  amount,
  callable,
  flag,
  invalid,
  listOf,
  mapOf,
  record,
  signal,
  text,
  withMethods,
} from '../../values/input.ts';
import type { Runtime } from '../../values/runtime.ts';
import type { ProcessEntry } from './process-table.ts';
import type { ProgramStart, Sandbox } from './sandbox.ts';

/** The system functions that supervision uses; tests can replace them. */
export interface ProcessSystem {
  spawn(command: string, args: readonly string[], options: SpawnOptions): ChildProcess;
  /** Like process.kill: a negative id refers to a process group. */
  kill(pid: number, signal: NodeJS.Signals): void;
  /** Returns all running processes. */
  table(): readonly ProcessEntry[];
  /** Returns whether a process was started with `name=value` in its environment. */
  startedWith(pid: number, variable: string): boolean;
}

/** The program to start, and the limits on its time and output. */
export interface ProcessOptions extends ProgramStart {
  /** Restricts the program and everything it starts. Default: no restrictions. */
  readonly sandbox?: Sandbox;
  /** Written to standard input, which is then closed. If undefined, standard input is empty. */
  readonly input?: string;
  /** Keeps standard input open after `input`, for `write` and `endInput`. Default false. */
  readonly keepInputOpen?: boolean;
  /** Ends the process tree when it aborts. */
  readonly signal?: AbortSignal;
  /** Ends the process tree after this many milliseconds. Default: no time limit. */
  readonly timeoutMs?: number;
  /** Time from SIGTERM to SIGKILL, in milliseconds. Default 1,500. */
  readonly graceMs?: number;
  /** Maximum time to wait for more output after the program has ended, in milliseconds. Default 250. */
  readonly drainMs?: number;
  /** Maximum number of bytes kept of each stream, head and tail together. Default 1 MiB. */
  readonly maxOutputBytes?: number;
  /** Receives all output as it arrives. Must not throw. */
  readonly onOutput?: (chunk: Uint8Array, stream: 'stdout' | 'stderr') => void;
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer'>;
  readonly spawn?: ProcessSystem['spawn'];
  readonly system?: Omit<ProcessSystem, 'spawn'>;
}

/** Reads a program and its arguments. */
export const argv: Reader<ProcessOptions['argv']> = (value) => {
  const [program, ...args] = listOf(text)(value);
  if (program === undefined) throw invalid(value, 'Use a program and its arguments');
  return Object.freeze([program, ...args] as const) as ProcessOptions['argv'];
};

/** Reads the options of a process. */
export const processOptions: Reader<ProcessOptions> = record<ProcessOptions>(
  {
    argv,
    cwd: text,
    env: mapOf(text),
    sandbox: withMethods('enter'),
    input: text,
    keepInputOpen: flag,
    signal,
    timeoutMs: amount,
    graceMs: amount,
    drainMs: amount,
    maxOutputBytes: amount,
    onOutput: callable,
    runtime: withMethods('monotonic', 'timer'),
    spawn: callable,
    system: withMethods('kill', 'table', 'startedWith'),
  },
  ['argv', 'cwd', 'env'],
);

import type { AgentConfig } from '../config.ts';
import { AgentError } from '../errors.ts';
import type { Price } from '../limits.ts';

/** The settings of `config.yaml`: which model, and what the command line would otherwise be told each time. */
export interface FileConfig extends AgentConfig {
  /** Keys by provider; `apiKey` alone belongs to `provider`. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Prices in US dollars per million tokens, by model id; they beat every other source. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly maxTurns?: number;
  /** US dollars that one run may cost. */
  readonly maxUsd?: number;
  /** Tokens above which a conversation is made smaller; 0 for never. */
  readonly compactAbove?: number;
  /** Bytes above which a tool's output is put away; 0 for never. */
  readonly spillAbove?: number;
  /** Whether the command line keeps sessions. Default true. */
  readonly keepSessions?: boolean;
}

/** What was read, and from where. */
export interface LoadedConfig {
  readonly values: FileConfig;
  /** The file, whether or not it exists. Absent when there is no home directory to look in. */
  readonly path?: string;
  readonly exists: boolean;
  /** Line of each top-level setting in the file, from 1. */
  readonly lines: Readonly<Record<string, number>>;
}

/** What is wrong with a configuration file, by its place in it. It never repeats a value: that may be a key. */
export function unusable(path: string, line: number | undefined, problem: string): AgentError {
  const place = line === undefined ? path : `${path}:${line}`;
  return new AgentError({ kind: 'invalid', code: 'config', message: `${place}: ${problem}.` });
}

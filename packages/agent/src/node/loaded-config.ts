import type { AgentConfig } from '../interfaces/config.ts';
import type { Price } from '../interfaces/limits.ts';
import { AgentError } from '../values/errors.ts';

/** How a server of the Model Context Protocol is reached, and what it may do. */
export type McpServerConfig = McpServerLimits & (McpProgram | McpAddress);

/** A program that is started and spoken to over its standard input and output. */
export interface McpProgram {
  readonly command: string;
  readonly args?: readonly string[];
  /** What it is given besides harmless variables; `${NAME}` stands for a variable of our own environment. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the folder that is worked in. */
  readonly cwd?: string;
}

/** A server that is there already, spoken to over streamable HTTP. */
export interface McpAddress {
  readonly url: string;
  /** `${NAME}` stands for a variable of our own environment. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** What a person allows an MCP server, whichever way it is reached. */
export interface McpServerLimits {
  /** Only these tools, by the names that the server gives them. */
  readonly tools?: readonly string[];
  /** What a tool does to the world, by the name that the server gives it; `once` for those not named. */
  readonly effects?: Readonly<Record<string, 'read' | 'idempotent' | 'once'>>;
  /** Tools that are meant to be called again and again with the same result, such as a poll; true for all of them. */
  readonly mayRepeat?: true | readonly string[];
  /** Believe what the server says about its tools' effects. Default false. */
  readonly trustHints?: boolean;
  /** Most time until it is ready, in milliseconds. Default 30,000. */
  readonly connectTimeout?: number;
  /** Most time of one call, in milliseconds. Default 120,000. */
  readonly callTimeout?: number;
  /** Kept in the configuration, but not used. Default false. */
  readonly disabled?: boolean;
}

/** The settings of `config.yaml`: which model, and what the command line would otherwise be told each time. */
export interface FileConfig extends AgentConfig {
  /** Keys by provider; `apiKey` alone belongs to `provider`. */
  readonly keys?: Readonly<Record<string, string>>;
  /** Prices in US dollars per million tokens, by model id; they beat every other source. */
  readonly prices?: Readonly<Record<string, Price>>;
  readonly maxTurns?: number;
  /** Equal calls with equal results in a row before a run ends; 0 for no limit. Default 6. */
  readonly maxRepeats?: number;
  /** US dollars that one run may cost. */
  readonly maxUsd?: number;
  /** Tokens above which a conversation is made smaller; 0 for never. */
  readonly compactAbove?: number;
  /** Bytes above which a tool's output is put away; 0 for never. */
  readonly offloadAbove?: number;
  /** Whether the command line keeps sessions. Default true. */
  readonly keepSessions?: boolean;
  /** Servers of the Model Context Protocol whose tools the model may call, by name. */
  readonly mcp?: Readonly<Record<string, McpServerConfig>>;
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

import type { AgentConfig } from '../interfaces/config.ts';
import type { Price } from '../interfaces/limits.ts';
import type { BudgetDefinition } from '../store/budgets/definition.ts';
import { AgentError } from '../values/errors.ts';

/** Configuration of a Model Context Protocol server: how to connect to it and what it may do. */
export type McpServerConfig = McpServerLimits & (McpProgram | McpAddress);

/** An MCP server that is started as a program and communicates over its standard input and output. */
export interface McpProgram {
  readonly command: string;
  readonly args?: readonly string[];
  /** Environment variables in addition to the harmless ones; `${NAME}` is replaced by a variable of this process. */
  readonly env?: Readonly<Record<string, string>>;
  /** Default: the working directory. */
  readonly cwd?: string;
  /** What the server can write: nothing (`strict`, the default), the workspace, or everything (`off`). */
  readonly sandbox?: 'strict' | 'workspace' | 'off';
}

/** A running MCP server, accessed over streamable HTTP. */
export interface McpAddress {
  readonly url: string;
  /** `${NAME}` is replaced by an environment variable of this process. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** The limits and permissions that the user sets for an MCP server, however it is accessed. */
export interface McpServerLimits {
  /** Allow only these tools, by the names that the server gives them. */
  readonly tools?: readonly string[];
  /** The effect of each tool, by the name that the server gives it; `once` for tools not listed. */
  readonly effects?: Readonly<Record<string, 'read' | 'idempotent' | 'once'>>;
  /** Tools that can be called repeatedly with the same result, such as a poll; true for all tools. */
  readonly mayRepeat?: true | readonly string[];
  /** Trust what the server declares about the effects of its tools. Default false. */
  readonly trustHints?: boolean;
  /**
   * Trust the output of the server, and where its tools send data. Otherwise its output is `untrusted`, and its tools that
   * are not `read` are tools that `send`. Default false.
   */
  readonly trusted?: boolean;
  /** Maximum time until the server is ready, in milliseconds. Default 30,000. */
  readonly connectTimeout?: number;
  /** Maximum time of one call, in milliseconds. Default 120,000. */
  readonly callTimeout?: number;
  /** Keeps the server in the configuration without using it. Default false. */
  readonly disabled?: boolean;
}

/** The price of a model, which may depend on the length of a request. */
export interface ConfigPrice extends Price {
  /** The price of all tokens of a request with more input tokens than this, including cached ones. */
  readonly longPrompt?: { readonly overInputTokens: number; readonly price: Price };
}

/** Where the end of a background run is reported, and how the chat gets the attention of a user who looks elsewhere. */
export interface NotifyConfig {
  /** Default `bell`. */
  readonly chat?: 'bell' | 'desktop' | 'off';
  /** The address that receives a POST request with JSON. */
  readonly webhook?: string;
  /** Signs the requests to the webhook. */
  readonly secret?: string;
  /** A program with its arguments that receives the same JSON on standard input. */
  readonly command?: readonly string[];
}

/** The settings of `config.yaml`: the model, and defaults for command-line options. */
export interface FileConfig extends AgentConfig {
  /** The models to try when the model fails, in order: names, or PROVIDER:NAME. */
  readonly fallback?: readonly string[];
  /** API keys by provider; `apiKey` belongs to `provider` only. */
  readonly keys?: Readonly<Record<string, string>>;
  /**
   * Prices in US dollars per million tokens, by `provider/model`, or by model for every provider. They take precedence
   * over all other sources.
   */
  readonly prices?: Readonly<Record<string, ConfigPrice>>;
  readonly maxTurns?: number;
  /** Number of equal calls with equal results in a row after which a run ends; 0 for no limit. Default 6. */
  readonly maxRepeats?: number;
  /** Maximum cost of one run in US dollars. */
  readonly maxUsd?: number;
  /** True to ask whether a run continues when it reaches a limit on tokens or money, or a budget. */
  readonly askAtLimit?: boolean;
  /** Budgets of a budget store by name, each with the limits of all runs that use it. */
  readonly budgets?: Readonly<Record<string, Omit<BudgetDefinition, 'name'>>>;
  /** The name of the budget that all runs count toward. */
  readonly budget?: string;
  /** The address that receives the alerts of budgets: https, or http on this machine. */
  readonly alertWebhook?: string;
  /** The budget of each user of the assistant, inside the budget of all runs. */
  readonly userBudget?: Omit<BudgetDefinition, 'name' | 'parent'>;
  /** Number of tokens above which a conversation is compacted; 0 for never. */
  readonly compactAbove?: number;
  /** Number of bytes above which tool output is offloaded; 0 for never. */
  readonly offloadAbove?: number;
  /** True if the command line stores sessions. Default true. */
  readonly keepSessions?: boolean;
  /** Hosts that sandboxed commands can connect to: HOST, HOST:PORT or *.HOST. */
  readonly allowHosts?: readonly string[];
  /** Whether the programs of this machine keep an audit log. Default `on`. */
  readonly audit?: 'on' | 'off';
  /** How users are notified; a string is the `chat` setting alone. Default `bell`. */
  readonly notify?: NonNullable<NotifyConfig['chat']> | NotifyConfig;
  /** Commands that run at events of a run, in the form that Claude Code reads. The command line checks them. */
  readonly hooks?: Readonly<Record<string, unknown>>;
  /** The colors of the chat. Default `dark`. */
  readonly theme?: 'dark' | 'light' | 'none' | 'colorblind';
  /** True if the chat input uses the key bindings of Vim. Default false. */
  readonly vim?: boolean;
  /** Model Context Protocol servers whose tools the model may call, by name. */
  readonly mcp?: Readonly<Record<string, McpServerConfig>>;
}

/** The settings that were read, and the file they come from. */
export interface LoadedConfig {
  readonly values: FileConfig;
  /** Path of the file, even if it does not exist. Undefined if there is no home directory. */
  readonly path?: string;
  readonly exists: boolean;
  /** Line of each top-level setting in the file, starting at 1. */
  readonly lines: Readonly<Record<string, number>>;
}

/** Creates the error for a problem in a configuration file. The message never contains a value, because that may be a key. */
export function unusable(path: string, line: number | undefined, problem: string): AgentError {
  const place = line === undefined ? path : `${path}:${line}`;
  return new AgentError({ kind: 'invalid', code: 'config', message: `${place}: ${problem}.` });
}

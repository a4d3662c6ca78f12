import type { Environment, Runtime, Tool } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import { callable, data, invalid, mapOf, read, record, text, withMethods } from '@cobbler/agent/input';
import type { McpServerConfig } from '@cobbler/agent/node';
import { childEnvironment, mcpProblem } from '@cobbler/agent/node';
import type { ProgramStart, Sandbox } from '@cobbler/agent/sandbox';
import { defined } from '@cobbler/agent/values';
import type { ToolList } from './connection.ts';
import { McpConnection } from './connection.ts';
import { HttpTransport } from './http-transport.ts';
import type { ListChange } from './list-change.ts';
import { listChange } from './list-change.ts';
import type { LeftOut } from './listed-tool.ts';
import { listedTool } from './listed-tool.ts';
import { mcpTool } from './mcp-tool.ts';
import { plainText } from './plain-text.ts';
import { StdioTransport } from './stdio-transport.ts';
import type { McpTransport } from './transport.ts';

/** Maximum number of tools of one server, because each is part of every request. */
const maxTools = 100;

/** The servers to connect to, and their environment. */
export interface McpOptions {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /**
   * Values for `${NAME}` references, and the source of the safe variables that servers receive. Default: the
   * environment of this process.
   */
  readonly env?: Environment;
  /** Directory in which servers start. Default: the working directory. */
  readonly cwd?: string;
  /** Returns the sandbox in which a server starts. `wanted` is the setting of the server. Default: none. */
  readonly sandbox?: (start: ProgramStart, wanted: 'strict' | 'workspace' | 'off') => Sandbox | undefined;
  /** Called when the tools of a server differ from those that the model knows. */
  readonly onChange?: (change: ListChange) => void;
  /** The name and version that Cobbler reports to servers. */
  readonly client?: { readonly name: string; readonly version: string };
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer' | 'fetch'>;
}

/** The state of a server. */
export interface McpServerReport {
  readonly name: string;
  /** The name and version that the server reports. */
  readonly identity: string;
  readonly tools: number;
  /** Tools that are not offered. */
  readonly leftOut: readonly LeftOut[];
  /** The reason why the server has no tools; absent if it could be used. */
  readonly problem?: string;
  /** Time from the start to the list, in milliseconds. */
  readonly ms: number;
}

/** Connected servers and their tools. */
export interface Mcp {
  /** The tools of all servers. They change only in {@link takeUp}, not during a conversation. */
  readonly tools: readonly Tool[];
  readonly servers: readonly McpServerReport[];
  /**
   * Reads the lists of servers that may have changed or were not available, updates the tools and returns the
   * differences. Call this between conversations: providers do not find a changed request prefix in their cache.
   */
  takeUp(): Promise<readonly ListChange[]>;
  /** Resolves when all servers and everything they started have ended. */
  close(): Promise<void>;
}

const readOptions = record<McpOptions>(
  {
    servers: (value) => {
      const servers = data<McpOptions['servers']>(value);
      const problem = mcpProblem(servers);
      if (problem !== undefined) throw invalid(value, `Correct it: ${problem}`);
      return servers;
    },
    env: mapOf(text),
    cwd: text,
    sandbox: callable,
    onChange: callable,
    client: record({ name: text, version: text }, ['name', 'version']),
    runtime: withMethods('monotonic', 'timer'),
  },
  ['servers'],
);

/**
 * Connects to all servers at the same time. A server that cannot be reached has no tools, and its report says why.
 * @throws AgentError `invalid` for an invalid option, such as a server name that tool names cannot contain.
 */
export async function connectMcp(options: McpOptions): Promise<Mcp> {
  const given = read(options, readOptions);
  const servers = Object.entries(given.servers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, config]) => new Server(name, config, given));
  await Promise.all(servers.map((server) => server.look()));
  for (const server of servers) server.adopt();
  return {
    get tools() {
      return servers.flatMap((server) => [...server.tools]);
    },
    get servers() {
      return servers.map((server) => server.report);
    },
    async takeUp() {
      await Promise.all(servers.map((server) => server.look()));
      return servers.flatMap((server) => server.adopt() ?? []);
    },
    async close() {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** One server, with the tools that the model has and those that the server currently offers. */
class Server {
  tools: readonly Tool[] = [];
  readonly #name: string;
  readonly #config: McpServerConfig;
  readonly #options: McpOptions;
  readonly #runtime: Pick<Runtime, 'monotonic' | 'timer' | 'fetch'>;
  readonly #connection: McpConnection;
  #found: readonly Tool[] = [];
  #leftOut: readonly LeftOut[] = [];
  #problem: string | undefined;
  #ms = 0;
  #isStale = true;
  #redact: (text: string) => string = redactor([]);
  #looking: Promise<void> | undefined;
  #isAdopted = false;

  constructor(name: string, config: McpServerConfig, options: McpOptions) {
    this.#name = name;
    this.#config = config;
    this.#options = options;
    this.#runtime = options.runtime ?? systemRuntime;
    this.#connection = new McpConnection({
      name,
      config,
      open: () => this.#open(),
      redact: (text) => this.#redact(text),
      runtime: this.#runtime,
      client: options.client ?? { name: 'cobbler', version: '0.0.0' },
      onStale: () => this.#noteChange(),
    });
  }

  get report(): McpServerReport {
    return {
      name: this.#name,
      identity: this.#connection.identity,
      tools: this.tools.length,
      leftOut: this.#leftOut,
      ms: this.#ms,
      ...defined({ problem: this.#problem }),
    };
  }

  /** Reads the list of the server if it may have changed. Never rejects. */
  look(): Promise<void> {
    if (!this.#isStale) return Promise.resolve();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Makes the current tools of the server available to the model. */
  adopt(): ListChange | undefined {
    const change = listChange(this.#name, this.tools, this.#found);
    // Tools that are equal for the model keep their object identity.
    if (change !== undefined || !this.#isAdopted) this.tools = this.#found;
    this.#isAdopted = true;
    return change;
  }

  close(): Promise<void> {
    return this.#connection.close();
  }

  async #look(): Promise<void> {
    const began = this.#runtime.monotonic();
    this.#isStale = false;
    try {
      await this.#take(await this.#connection.list());
      this.#problem = undefined;
    } catch (error) {
      this.#problem = AgentError.from(error, 'tool').message;
      this.#isStale = true;
    }
    this.#ms = Math.round(this.#runtime.monotonic() - began);
  }

  async #take({ entries, isCut }: ToolList): Promise<void> {
    const tools = new Map<string, Tool>();
    const leftOut: LeftOut[] = [];
    for (const entry of entries) {
      const listed = await listedTool(this.#name, this.#config, entry);
      if (listed === undefined) continue;
      if ('why' in listed) leftOut.push(listed);
      else if (tools.has(listed.name))
        leftOut.push({ name: listed.ownName, why: 'another tool has this name' });
      else if (tools.size === maxTools)
        leftOut.push({ name: listed.ownName, why: `a server can have at most ${maxTools} tools` });
      else
        tools.set(
          listed.name,
          mcpTool(this.#connection, listed, () => this.#runtime.monotonic()),
        );
    }
    if (isCut) leftOut.push({ name: '…', why: 'the list is too long and was not read completely' });
    this.#found = [...tools.values()];
    this.#leftOut = leftOut;
  }

  /** Reports the differences immediately, without changing the tools. */
  #noteChange(): void {
    this.#isStale = true;
    if (!this.#isAdopted) return;
    void this.look().then(() => {
      const change = listChange(this.#name, this.tools, this.#found);
      if (change !== undefined && this.#problem === undefined) this.#options.onChange?.(change);
    });
  }

  #open(): McpTransport {
    const config = this.#config;
    const { env = process.env, cwd = process.cwd() } = this.#options;
    if ('url' in config) {
      const url = fillIn(config.url, env);
      const headers = fillAll(config.headers, env);
      this.#redact = redactor([...url.secrets, ...headers.secrets]);
      return new HttpTransport(new URL(url.text), headers.values, this.#runtime);
    }
    const args = (config.args ?? []).map((arg) => fillIn(arg, env));
    const own = fillAll(config.env, env);
    this.#redact = redactor([...own.secrets, ...args.flatMap(({ secrets }) => secrets)]);
    const start: ProgramStart = {
      argv: [config.command, ...args.map(({ text }) => text)],
      cwd: config.cwd ?? cwd,
      env: childEnvironment(env, own.values),
    };
    const sandbox = this.#options.sandbox?.(start, config.sandbox ?? 'strict');
    return new StdioTransport({ ...start, ...defined({ sandbox }) }, this.#runtime);
  }
}

const mask = '[redacted]';

/** Shorter values are not treated as secrets, because messages would become unreadable. */
const minLength = 6;

/** Common forms of keys. */
const keyLike = /\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|AKIA|AIza)[-_A-Za-z0-9]{12,}/g;
const named = /((?:bearer|token|password|passwd|secret|api[-_]?key)["']?\s*[:=]?\s*["']?)([^\s"',;]{8,})/gi;

/** Creates a function that redacts these secrets, and text that looks like a secret, in the output of a server. */
function redactor(secrets: readonly string[]): (text: string) => string {
  const needles = secrets
    .filter((secret) => secret.length >= minLength)
    .sort((left, right) => right.length - left.length);
  return (text) => {
    let clean = plainText(text);
    for (const needle of needles) clean = clean.replaceAll(needle, mask);
    return clean.replace(keyLike, mask).replace(named, `$1${mask}`);
  };
}

/** A text with the values of its variables inserted. */
interface FilledReferences {
  readonly text: string;
  /** The inserted values, which can be keys. */
  readonly secrets: readonly string[];
}

/**
 * Replaces `${NAME}` references with the values of variables.
 * @throws AgentError `invalid` for a variable that is not set: a partial key is worse than none.
 */
function fillIn(text: string, env: Environment): FilledReferences {
  const secrets: string[] = [];
  const filled = text.replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (_, name: string) => {
    const value = env[name];
    if (value === undefined || value === '') {
      throw new AgentError({
        kind: 'invalid',
        code: 'mcp_variable',
        message: `the variable ${name} is not set`,
      });
    }
    secrets.push(value);
    return value;
  });
  return { text: filled, secrets };
}

/** Replaces the references in every value of a table; each resulting value counts as a secret. */
function fillAll(
  table: Readonly<Record<string, string>> | undefined,
  env: Environment,
): { readonly values: Record<string, string>; readonly secrets: readonly string[] } {
  const values: Record<string, string> = {};
  const secrets: string[] = [];
  for (const [name, text] of Object.entries(table ?? {})) {
    const filled = fillIn(text, env);
    values[name] = filled.text;
    secrets.push(filled.text, ...filled.secrets, filled.text.slice(filled.text.indexOf(' ') + 1));
  }
  return { values, secrets };
}

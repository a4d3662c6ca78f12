import type { Environment, Runtime, Tool } from '@cobbler/agent';
import { AgentError, systemRuntime } from '@cobbler/agent';
import type { McpServerConfig } from '@cobbler/agent/node';
import { childEnvironment, isMcpName } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import { McpConnection } from './connection.ts';
import { HttpTransport } from './http-transport.ts';
import type { ListChange } from './list-change.ts';
import { listChange } from './list-change.ts';
import type { LeftOut } from './listed-tool.ts';
import { listedTool } from './listed-tool.ts';
import { mcpTool } from './mcp-tool.ts';
import { plainText } from './plain-text.ts';
import { fillAll, fillIn } from './references.ts';
import { StdioTransport } from './stdio-transport.ts';
import type { McpTransport } from './transport.ts';

/** Maximum tools of one server; each is part of every request. */
const maxTools = 100;

/** Which servers, and what they are given. */
export interface McpOptions {
  readonly servers: Readonly<Record<string, McpServerConfig>>;
  /** Where `${NAME}` is looked up and harmless variables come from. Default: that of this process. */
  readonly env?: Environment;
  /** Where programs are started. Default: the working directory. */
  readonly cwd?: string;
  /** Called when the tools of a server differ from those that the model knows. */
  readonly onChange?: (change: ListChange) => void;
  /** Our description for servers. */
  readonly client?: { readonly name: string; readonly version: string };
  readonly runtime?: Pick<Runtime, 'monotonic' | 'timer' | 'fetch'>;
}

/** The state of a server. */
export interface McpServerReport {
  readonly name: string;
  /** Its self-description. */
  readonly identity: string;
  readonly tools: number;
  /** Tools that are not offered. */
  readonly leftOut: readonly LeftOut[];
  /** Why it has no tools here. */
  readonly problem?: string;
  /** From the start to the list, in milliseconds. */
  readonly ms: number;
}

/** Servers and their tools. */
export interface Mcp {
  /** Unchanged until {@link takeUp}: the tools of a running conversation do not change. */
  readonly tools: readonly Tool[];
  readonly servers: readonly McpServerReport[];
  /**
   * Looks again at servers whose lists may have changed and at those that were not there, and makes what they offer
   * now the tools. Gives what became different. To be called between conversations: requests that begin otherwise
   * are not served from a provider's cache.
   */
  takeUp(): Promise<readonly ListChange[]>;
  /** Resolves when nothing of the servers is left. */
  close(): Promise<void>;
}

/**
 * Connects to servers, all at the same time. One that cannot be reached has no tools, and its report says why.
 * @throws AgentError `invalid` for a name that no server can have.
 */
export async function connectMcp(options: McpOptions): Promise<Mcp> {
  const wrong = Object.keys(options.servers).find((name) => !isMcpName(name));
  if (wrong !== undefined) {
    throw new AgentError({
      kind: 'invalid',
      code: 'mcp_name',
      message: `The name of an MCP server cannot be ${JSON.stringify(wrong)}: use 1 to 32 letters, digits and "-", with single "_" between them.`,
    });
  }
  const servers = Object.entries(options.servers)
    .filter(([, { disabled }]) => disabled !== true)
    .map(([name, config]) => new Server(name, config, options));
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

/** One server, with the tools that the model knows of it and those that it has now. */
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
  #scrub: (text: string) => string = scrubber([]);
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
      scrub: (text) => this.#scrub(text),
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

  /** Reads the list of the server if it may be another one. Never rejects. */
  look(): Promise<void> {
    if (!this.#isStale) return Promise.resolve();
    this.#looking ??= this.#look().finally(() => {
      this.#looking = undefined;
    });
    return this.#looking;
  }

  /** Makes what was found the tools. */
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

  async #take(entries: readonly unknown[]): Promise<void> {
    const tools = new Map<string, Tool>();
    const leftOut: LeftOut[] = [];
    for (const entry of entries) {
      const listed = await listedTool(this.#name, this.#config, entry);
      if (listed === undefined) continue;
      if ('why' in listed) leftOut.push(listed);
      else if (tools.has(listed.name))
        leftOut.push({ name: listed.ownName, why: 'another tool has this name' });
      else if (tools.size === maxTools)
        leftOut.push({ name: listed.ownName, why: `a server can have ${maxTools} tools` });
      else
        tools.set(
          listed.name,
          mcpTool(this.#connection, listed, () => this.#runtime.monotonic()),
        );
    }
    this.#found = [...tools.values()];
    this.#leftOut = leftOut;
  }

  /** Says at once what is different, and leaves the tools as they are. */
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
      this.#scrub = scrubber([...url.secrets, ...headers.secrets]);
      return new HttpTransport(new URL(url.text), headers.values, this.#runtime);
    }
    const args = (config.args ?? []).map((arg) => fillIn(arg, env));
    const own = fillAll(config.env, env);
    this.#scrub = scrubber([...own.secrets, ...args.flatMap(({ secrets }) => secrets)]);
    return new StdioTransport(
      {
        argv: [config.command, ...args.map(({ text }) => text)],
        cwd: config.cwd ?? cwd,
        env: childEnvironment(env, own.values),
      },
      this.#runtime,
    );
  }
}

const mask = '[redacted]';

/** Shorter values are not treated as secrets, because messages would become unreadable. */
const minLength = 6;

/** Common forms of keys. */
const keyLike = /\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|AKIA|AIza)[-_A-Za-z0-9]{12,}/g;
const named = /((?:bearer|token|password|passwd|secret|api[-_]?key)["']?\s*[:=]?\s*["']?)([^\s"',;]{8,})/gi;

/** Makes what masks these secrets, and whatever looks like one, in what a server has said. */
function scrubber(secrets: readonly string[]): (text: string) => string {
  const needles = secrets
    .filter((secret) => secret.length >= minLength)
    .sort((left, right) => right.length - left.length);
  return (text) => {
    let clean = plainText(text);
    for (const needle of needles) clean = clean.replaceAll(needle, mask);
    return clean.replace(keyLike, mask).replace(named, `$1${mask}`);
  };
}

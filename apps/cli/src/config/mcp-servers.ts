import { createHash } from 'node:crypto';
import type { Tool } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import type { FileConfig, McpServerConfig } from '@cobbler/agent/node';
import { isMcpName } from '@cobbler/agent/node';
import { defined } from '@cobbler/agent/values';
import type { ListChange, Mcp } from '@cobbler/tools/mcp';
import type { Io } from '../terminal/io.ts';
import { UsageError } from '../terminal/usage-error.ts';
import { ownVersion } from '../terminal/version.ts';
import type { RunFlags } from './run-flags.ts';
import { serverSandboxes } from './sandbox.ts';

/** The tools of the MCP servers in one invocation. */
export interface McpTools {
  /** Returns the tools for a new conversation. */
  tools(): readonly Tool[];
  /**
   * Returns the digest of a tool's definition, its server's program included; undefined for a tool of no server. A rule
   * for such a tool applies only while its digest is the same.
   */
  digestOf(toolName: string): string | undefined;
  /** Resolves when all servers have ended. */
  close(): Promise<void>;
}

const none: McpTools = { tools: () => [], digestOf: () => undefined, close: async () => undefined };

/** Returns the servers of the configuration, or of the agent, and of the command line, which takes precedence. */
export function mcpServers(
  flags: Pick<RunFlags, 'mcp' | 'agentFolder'>,
  values: FileConfig,
): Readonly<Record<string, McpServerConfig>> {
  const servers: Record<string, McpServerConfig> = { ...(flags.agentFolder?.mcp ?? values.mcp) };
  const given = flags.mcp.map(readMcpFlag);
  for (const { name, config } of given) {
    if (given.filter((other) => other.name === name).length > 1)
      throw new UsageError(
        `--mcp uses the name ${name} twice.`,
        'Use a different name for each server: NAME=COMMAND',
      );
    servers[name] = config;
  }
  return servers;
}

/**
 * Connects to the configured servers if any of their tools may be used; loads nothing if there are none. `report`
 * receives servers that fail and later changes of their tool lists. A conversation keeps its initial tools; the next
 * one gets the new tools.
 */
export async function openMcp(
  flags: Pick<RunFlags, 'mcp' | 'tools' | 'sandbox' | 'agentFolder'>,
  values: FileConfig,
  folder: string,
  report: (line: string) => void,
  io: Io,
): Promise<McpTools> {
  const servers = serversToStart(mcpServers(flags, values), flags.tools);
  if (Object.keys(servers).length === 0) return none;
  const { connectMcp } = await import('@cobbler/tools/mcp');
  const sandbox = await serverSandboxes(folder, flags, io);
  const mcp = await connectMcp({
    servers,
    env: io.env,
    cwd: folder,
    ...defined({ sandbox }),
    client: { name: 'cobbler', version: ownVersion() },
    onChange: (change) => {
      report(changeLine(change));
      mcp.takeUp().catch((error: unknown) => report(AgentError.from(error, 'tool').message));
    },
  });
  for (const line of mcp.servers.flatMap(troubleLines)) report(line);
  return {
    tools: () => mcp.tools,
    digestOf: (toolName) => {
      const tool = mcp.tools.find(({ name }) => name === toolName);
      const server = Object.keys(servers).find((name) => toolName.startsWith(`mcp__${name}__`));
      return tool === undefined ? undefined : toolDigest(tool, servers[server ?? '']);
    },
    close: () => mcp.close(),
  };
}

/** Returns the digest of everything that determines what a call of a tool does, as far as it is known. */
export function toolDigest(
  { name, description, parameters }: Pick<Tool, 'name' | 'description' | 'parameters'>,
  server: McpServerConfig | undefined,
): string {
  const program = server === undefined ? null : 'url' in server ? server.url : [server.command, server.args];
  const definition = JSON.stringify([name, description, parameters, program]);
  return createHash('sha256').update(definition).digest('hex').slice(0, 32);
}

/** Returns the servers to start: with `--tools`, those of which it names a tool, or the server itself as in `mcp__github`. */
function serversToStart(
  servers: Readonly<Record<string, McpServerConfig>>,
  tools: readonly string[] | undefined,
): Readonly<Record<string, McpServerConfig>> {
  if (tools === undefined) return servers;
  return Object.fromEntries(
    Object.entries(servers).filter(([name]) =>
      tools.some((tool) => tool === `mcp__${name}` || tool.startsWith(`mcp__${name}__`)),
    ),
  );
}

/** Returns the problems of a server to show to the user: it failed, or some of its tools are not available. */
export function troubleLines({ problem, leftOut, name }: Mcp['servers'][number]): string[] {
  const left = leftOut.slice(0, 3).map((one) => `${one.name}: ${one.why}`);
  const more = leftOut.length > left.length ? [`and ${leftOut.length - left.length} more`] : [];
  return [
    ...(problem === undefined ? [] : [`${problem.replace(/[^.!?]$/, '$&.')} Its tools are not available.`]),
    ...(left.length === 0
      ? []
      : [`These tools of the MCP server ${name} are not available: ${[...left, ...more].join('; ')}`]),
  ];
}

function changeLine({ server, added, removed, changed }: ListChange): string {
  const names = (mark: string, list: readonly string[]) => list.map((name) => `${mark}${name}`);
  const all = [...names('+', added), ...names('-', removed), ...names('~', changed)];
  const shown = all.length > 8 ? [...all.slice(0, 8), `and ${all.length - 8} more`] : all;
  return `The MCP server ${server} has changed its tools: ${shown.join(' ')}. The changes will apply starting with the next conversation.`;
}

/** Describes a server briefly, without anything that may be a key. */
export function serverWords(config: McpServerConfig): string {
  if (config.disabled === true) return 'disabled';
  if ('url' in config) {
    const { protocol, host, pathname } = new URL(config.url.replace(/\$\{\w+\}/g, '…'));
    return `${protocol}//${host}${decodeURI(pathname)}`;
  }
  const count = config.args?.length ?? 0;
  return count === 0 ? config.command : `${config.command} and ${count} argument${count === 1 ? '' : 's'}`;
}

interface NamedServer {
  readonly name: string;
  readonly config: McpServerConfig;
}

/**
 * Reads `--mcp NAME=COMMAND`, `--mcp NAME=URL` or `--mcp URL`. A command is split at spaces, except within quotes; no
 * shell is involved.
 * @throws UsageError
 */
export function readMcpFlag(text: string): NamedServer {
  const bare = URL.parse(text);
  if (/^https?:\/\//.test(text) && bare !== null)
    return namedServer(bare.hostname.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 32), { url: text }, text);
  const [, name = '', rest = ''] = /^([^=\s]+)=(.+)$/s.exec(text) ?? [];
  if (/^https?:\/\//.test(rest) && URL.canParse(rest)) return namedServer(name, { url: rest }, text);
  const [command, ...args] = words(rest);
  if (command === undefined) throw invalidServer(text);
  return namedServer(name, { command, args }, text);
}

function namedServer(name: string, config: McpServerConfig, text: string): NamedServer {
  if (!isMcpName(name)) throw invalidServer(text);
  return { name, config };
}

/** Returns the error. It quotes only the name, because the rest may contain a key. */
function invalidServer(text: string): UsageError {
  const name = text.split(/[=\s]/)[0] ?? '';
  return new UsageError(
    `--mcp ${JSON.stringify(name.slice(0, 60))}… is not NAME=COMMAND or a URL.`,
    'For example: --mcp "files=npx -y @modelcontextprotocol/server-filesystem ."',
  );
}

function words(text: string): string[] {
  const found = text.match(/(?:"[^"]*"|'[^']*'|[^\s"'])+/g) ?? [];
  return found.map((word) => word.replace(/"([^"]*)"|'([^']*)'/g, '$1$2'));
}

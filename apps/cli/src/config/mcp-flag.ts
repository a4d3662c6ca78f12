import type { McpServerConfig } from '@cobbler/agent/node';
import { isMcpName } from '@cobbler/agent/node';
import { UsageError } from '../terminal/usage-error.ts';

/** A server that a command line names. */
export interface NamedServer {
  readonly name: string;
  readonly config: McpServerConfig;
}

/**
 * Reads `--mcp NAME=COMMAND`, `--mcp NAME=URL` or `--mcp URL`. A command is split at blanks, quotes hold it together;
 * no shell reads it.
 * @throws UsageError
 */
export function readMcpFlag(text: string): NamedServer {
  const bare = URL.parse(text);
  if (/^https?:\/\//.test(text) && bare !== null)
    return named(bare.hostname.replace(/[^A-Za-z0-9]+/g, '-').slice(0, 32), { url: text }, text);
  const [, name = '', rest = ''] = /^([^=\s]+)=(.+)$/s.exec(text) ?? [];
  if (/^https?:\/\//.test(rest) && URL.canParse(rest)) return named(name, { url: rest }, text);
  const [command, ...args] = words(rest);
  if (command === undefined) throw wrong(text);
  return named(name, { command, args }, text);
}

function named(name: string, config: McpServerConfig, text: string): NamedServer {
  if (!isMcpName(name)) throw wrong(text);
  return { name, config };
}

/** Only the name is repeated: the rest may hold a key. */
function wrong(text: string): UsageError {
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

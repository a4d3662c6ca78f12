import { createHash } from 'node:crypto';
import { read, text } from '@cobbler/agent/input';

/** Maximum length that every provider accepts. */
const maxLength = 64;

/**
 * Returns the name by which the model calls a tool of a server: `mcp__SERVER__TOOL`. Characters that some provider
 * rejects become `_`, and long names are cut; a name changed in this way ends with six digits computed from the full
 * name. So a name does not depend on other tools and stays the same when the server's list changes.
 * @throws AgentError `invalid` for a name that is not a string.
 */
export function mcpToolName(server: string, tool: string): string {
  read(server, text, 'server');
  read(tool, text, 'tool');
  const clean = tool.replace(/[^A-Za-z0-9_-]/g, '_');
  const name = `mcp__${server}__${clean}`;
  if (clean === tool && tool !== '' && name.length <= maxLength) return name;
  const digits = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 6);
  return `${name.slice(0, maxLength - digits.length - 1)}_${digits}`;
}

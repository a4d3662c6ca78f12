import { createHash } from 'node:crypto';

/** The pattern that every provider accepts. */
const maxLength = 64;

/**
 * The name by which the model calls a tool of a server: `mcp__SERVER__TOOL`. What no provider accepts becomes `_`, and
 * what is too long is cut; a name that was changed so ends with six digits made of the whole of it. So a name depends
 * on no other tool, and stays the same however the list of the server changes.
 */
export function mcpToolName(server: string, tool: string): string {
  const clean = tool.replace(/[^A-Za-z0-9_-]/g, '_');
  const name = `mcp__${server}__${clean}`;
  if (clean === tool && tool !== '' && name.length <= maxLength) return name;
  const digits = createHash('sha256').update(`${server}\0${tool}`).digest('hex').slice(0, 6);
  return `${name.slice(0, maxLength - digits.length - 1)}_${digits}`;
}

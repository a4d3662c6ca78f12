import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The path of the small MCP server. */
export const greeter: string = fileURLToPath(new URL('mcp-greeter.ts', import.meta.url));

/** Returns the value of `--mcp` for the server, which records its starts in a file. */
export function greeterFlag(log: string): string {
  return `greeter=${process.execPath} "${greeter}" '${log}'`;
}

/** Returns the ids of all processes that the server recorded. */
export function greeterStarts(log: string): number[] {
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').map(Number) : [];
}

/** Returns the ids that still run. Throws if none ever started: that would prove nothing. */
export function greetersLeft(log: string): number[] {
  if (!existsSync(log)) throw new Error('The server was never started.');
  return greeterStarts(log).filter(isRunning);
}

function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

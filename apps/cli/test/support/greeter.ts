import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/** The program of the small MCP server. */
export const greeter: string = fileURLToPath(new URL('mcp-greeter.ts', import.meta.url));

/** How it is named on the command line, noting its starts in a file. */
export function greeterFlag(log: string): string {
  return `greeter=${process.execPath} "${greeter}" '${log}'`;
}

/** The processes that it ever was, by what it noted. */
export function greeterStarts(log: string): number[] {
  return existsSync(log) ? readFileSync(log, 'utf8').trim().split('\n').map(Number) : [];
}

/** Those that are still there. Throws where none ever was: then nothing is shown by that. */
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

import { readFileSync } from 'node:fs';
import { join } from 'node:path';

/** The program in the README, and its documented output. */
export interface Program {
  readonly code: string;
  readonly prints: string;
}

/** @throws Error if the README has no such program */
export function readmeProgram(root: string): Program {
  const text = readFileSync(join(root, 'README.md'), 'utf8');
  for (const [, code = ''] of text.matchAll(/^```ts\n([\s\S]*?)^```$/gm)) {
    const behind = text.slice(text.indexOf(code) + code.length);
    const prints = /^```\s+It prints `([^`]+)`/.exec(behind)?.[1];
    if (prints !== undefined && code.includes("from '@cobbler/agent'")) return { code, prints };
  }
  throw new Error('README.md has no TypeScript program followed by "It prints `…`".');
}

/**
 * Returns the program as the body of a function that receives a console, because a worker must not run code
 * on load.
 */
export function asFunction({ code }: Program): string {
  const lines = code.split('\n');
  const isImport = (line: string) => /^import .* from '.*';$/.test(line);
  const rest = lines.filter((line) => !isImport(line));
  return [...lines.filter(isImport), 'async function program(console) {', ...rest, '}'].join('\n');
}

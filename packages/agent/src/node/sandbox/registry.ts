import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { read, text } from '../../values/input.ts';
import type { CommandStep } from '../command-line.ts';
import { readCommandLine } from '../command-line.ts';

const programs = ['npm', 'pnpm', 'yarn'];

/** Their commands that download packages or ask a registry about them. None of them publishes a package. */
const commands = [
  ...['add', 'audit', 'ci', 'i', 'info', 'install', 'outdated', 'ping', 'search', 'show', 'up'],
  ...['update', 'upgrade', 'view', 'whoami', 'why'],
];

/** Returns whether a command line only calls package managers that download packages or ask a registry about them. */
export function isRegistryLine(line: string): boolean {
  const { steps = [], operators = [] } = readCommandLine(read(line, text, 'line')) ?? {};
  return steps.length > 0 && operators.every((operator) => operator === '&&') && steps.every(isRequest);
}

function isRequest({ argv: [program = '', command = '', ...args], redirects }: CommandStep): boolean {
  if (redirects.length > 0) return false;
  if (program === 'cd') return args.length === 0 && command !== '';
  return programs.includes(program) && (commands.includes(command) || (program === 'yarn' && command === ''));
}

/** Returns the file with the user's logins to registries; undefined if there is none. */
export function loginFile(realHome: string | undefined): string | undefined {
  const path = realHome === undefined ? undefined : join(realHome, '.npmrc');
  return path !== undefined && existsSync(path) ? path : undefined;
}

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { textFrom } from './attachment.ts';

/** A project's own instructions for agents. */
export interface Instructions {
  readonly path: string;
  readonly text: string;
}

const names = ['AGENTS.md', 'CLAUDE.md'] as const;

/** What is longer would crowd out the task. */
const mostCharacters = 50_000;

/**
 * The instructions that hold for a folder: AGENTS.md, else CLAUDE.md, of the folder itself or of the nearest
 * one above it within the same repository. A file that cannot be read counts as none.
 */
export function findInstructions(folder: string): Instructions | undefined {
  for (let at = folder; ; at = dirname(at)) {
    for (const name of names) {
      const path = join(at, name);
      const text = readText(path);
      if (text !== undefined && text.trim() !== '') return { path, text: shortened(text) };
    }
    // Above the repository, and anywhere without one, instructions were written for something else.
    if (isRepository(at) || !isInRepository(at) || dirname(at) === at) return undefined;
  }
}

/** As git sees it: a worktree has a file, and a folder without a HEAD, which other programs leave behind, is none. */
function isRepository(folder: string): boolean {
  const git = join(folder, '.git');
  return existsSync(join(git, 'HEAD')) || isFile(git);
}

function isFile(path: string): boolean {
  try {
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

function isInRepository(folder: string): boolean {
  for (let at = folder; ; at = dirname(at)) {
    if (isRepository(at)) return true;
    if (dirname(at) === at) return false;
  }
}

function readText(path: string): string | undefined {
  try {
    return textFrom(readFileSync(path));
  } catch {
    return undefined;
  }
}

function shortened(text: string): string {
  if (text.length <= mostCharacters) return text;
  return `${text.slice(0, mostCharacters)}\n[The file is longer; the rest is left out.]`;
}

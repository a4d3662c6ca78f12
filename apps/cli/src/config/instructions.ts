import { existsSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { Workspace } from '@cobbler/agent/node';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { textFrom } from './attachment.ts';

/** A project's own instructions for agents. */
export interface Instructions {
  readonly path: string;
  readonly text: string;
}

/** Search options for instructions. */
export interface FindOptions {
  /** The environment that determines the protected directories. Default: that of this process. */
  readonly env?: Environment;
  /** Receives a line for the user about an existing file that is not read. */
  readonly report?: (line: string) => void;
}

const names = ['AGENTS.md', 'CLAUDE.md'] as const;

/** Maximum length, so that the instructions do not crowd out the task. */
const maxCharacters = 50_000;

/** Maximum file size; a larger file is not text for a model. */
const maxBytes = 20_000_000;

/**
 * Finds the instructions for a directory: AGENTS.md, otherwise CLAUDE.md, in the directory itself or the nearest one
 * above it within the same repository. They come with the project, so a link that leads out of the repository (or,
 * without one, out of the directory) is not followed. A file that cannot be read counts as missing.
 */
export async function findInstructions(
  folder: string,
  options: FindOptions = {},
): Promise<Instructions | undefined> {
  const root = repositoryOf(folder) ?? folder;
  const workspace = new Workspace(root, options.env === undefined ? {} : { env: options.env });
  for (let at = folder; ; at = dirname(at)) {
    for (const name of names) {
      const path = join(at, name);
      const text = await readText(workspace, relative(root, path), (why) => {
        const advice = 'Put the text in the file itself, or skip all context files with --no-context-files.';
        options.report?.(`${path} was not read: it links to a file ${why}. ${advice}`);
      });
      if (text !== undefined && text.trim() !== '') return { path, text: shorten(text) };
    }
    // Instructions above the repository, or above a directory without one, were written for something else.
    if (at === root) return undefined;
  }
}

/** Finds instructions for a command and tells the user on standard error which files are not read. */
export async function instructionsOf(folder: string, io: Io): Promise<Instructions | undefined> {
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  return await findInstructions(folder, { env: io.env, report });
}

function repositoryOf(folder: string): string | undefined {
  for (let at = folder; ; at = dirname(at)) {
    if (isRepository(at)) return at;
    if (dirname(at) === at) return undefined;
  }
}

/**
 * Uses the same rule as git: in a worktree, .git is a file. A .git directory without HEAD, which other programs leave
 * behind, is not a repository.
 */
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

const refusals: Readonly<Record<string, string>> = {
  outside: 'outside the project',
  sealed: "that contains keys or Cobbler's own data",
};

async function readText(
  workspace: Workspace,
  name: string,
  refused: (why: string) => void,
): Promise<string | undefined> {
  try {
    const { handle, stat } = await workspace.openFile(name);
    try {
      return stat.size > maxBytes ? undefined : textFrom(await handle.readFile());
    } finally {
      await handle.close();
    }
  } catch (error) {
    const why = AgentError.is(error) ? refusals[error.code ?? ''] : undefined;
    if (why !== undefined) refused(why);
    return undefined;
  }
}

function shorten(text: string): string {
  if (text.length <= maxCharacters) return text;
  return `${text.slice(0, maxCharacters)}\n[The file is longer; the rest is omitted.]`;
}

import { existsSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import type { Environment } from '@cobbler/agent';
import { AgentError } from '@cobbler/agent';
import { cobblerHome, Workspace } from '@cobbler/agent/node';
import { visible } from '../terminal/escape.ts';
import type { Io } from '../terminal/io.ts';
import { textFrom } from './attachment.ts';
import { shortPath } from './directory.ts';

/** A file with instructions for agents. */
export interface Instructions {
  readonly owner: 'user' | 'project';
  /** For display: the path relative to the project, or with `~`. */
  readonly name: string;
  readonly path: string;
  readonly text: string;
}

/** Search options for instructions. */
export interface FindOptions {
  /** The environment that determines the protected directories. Default: that of this process. */
  readonly env?: Environment;
  /** The directory with the user's own AGENTS.md. Absent: it is not read. */
  readonly home?: string | undefined;
  /** Receives a line for the user about an existing file that is not read. */
  readonly report?: (line: string) => void;
}

const names = ['AGENTS.md', 'CLAUDE.md'] as const;

/** Maximum length in total, so that the instructions do not crowd out the task. */
const maxCharacters = 50_000;

/** Maximum file size; a larger file is not text for a model. */
const maxBytes = 20_000_000;

/**
 * Finds the instructions for a directory, the most general first: those of the user, then of each directory from the root
 * of the repository to the directory itself. They are in AGENTS.md, otherwise in CLAUDE.md. Those of a project come with
 * it, so a link that leads out of the repository (or, without one, out of the directory) is not followed. A file that
 * cannot be read counts as missing. If they are too long, the most general are shortened.
 */
export async function findInstructions(
  folder: string,
  options: FindOptions = {},
): Promise<readonly Instructions[]> {
  const root = projectRoot(folder);
  const workspace = new Workspace(root, options.env === undefined ? {} : { env: options.env });
  const found: Instructions[] = [];
  // Instructions above the repository, or above a directory without one, were written for something else.
  for (let at = folder; ; at = dirname(at)) {
    for (const file of names) {
      const path = join(at, file);
      const name = relative(root, path);
      const text = await readText(workspace, name, (why) => {
        const advice = 'Put the text in the file itself, or skip all context files with --no-context-files.';
        options.report?.(`${path} was not read: it links to a file ${why}. ${advice}`);
      });
      if (text === undefined || text.trim() === '') continue;
      found.push({ owner: 'project', name, path, text });
      break;
    }
    if (at === root) break;
  }
  const own = join(options.home ?? '', 'AGENTS.md');
  const text = options.home === undefined ? undefined : ownText(own);
  if (text?.trim()) found.push({ owner: 'user', name: shortPath(own, options.env ?? {}), path: own, text });
  return shortened(found).reverse();
}

/** Finds instructions for a command and tells the user on standard error which files are not read. */
export async function instructionsOf(folder: string, io: Io): Promise<readonly Instructions[]> {
  const report = (line: string) => io.stderr.write(`cobbler: ${visible(line)}\n`);
  return await findInstructions(folder, { env: io.env, home: cobblerHome(io.env), report });
}

/** Returns the names of the files for a header. */
export function instructionNames(instructions: readonly Instructions[]): string[] {
  return instructions.length === 0
    ? []
    : [`reads ${instructions.map(({ name }) => visible(name)).join(', ')}`];
}

/** Returns the root of the repository that a directory is in, or the directory itself if it is in none. */
export function projectRoot(folder: string): string {
  for (let at = folder; ; at = dirname(at)) {
    if (isRepository(at)) return at;
    if (dirname(at) === at) return folder;
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

/** The user's own file can be a link to anywhere. */
function ownText(path: string): string | undefined {
  try {
    return statSync(path).size > maxBytes ? undefined : textFrom(readFileSync(path));
  } catch {
    return undefined;
  }
}

function shortened(found: readonly Instructions[]): Instructions[] {
  let room = maxCharacters;
  return found.map(({ text, ...rest }) => {
    const whole = text.trim();
    const part = whole.slice(0, room);
    room -= part.length;
    const isWhole = part.length === whole.length;
    return { ...rest, text: isWhole ? whole : `${part}\n[The file is longer; the rest is omitted.]` };
  });
}

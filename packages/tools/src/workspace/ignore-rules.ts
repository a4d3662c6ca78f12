import type { Ignore } from 'ignore';
import ignore from 'ignore';

/** Directories of other programs that searches skip, unless a .gitignore re-includes one with `!`. */
const always = ['node_modules/', '__pycache__/', '.venv/', '.hg/', '.svn/', '.jj/'].join('\n');

interface IgnoreFile {
  /** The directory of the .gitignore, with `/` at its end; empty for the workspace itself. */
  readonly folder: string;
  readonly text: string;
  readonly matcher: Ignore;
}

/** The .gitignore rules of one directory: its own and those of its parents. As in git, a deeper file takes precedence. */
export class IgnoreRules {
  /** Rule files, the deepest first. */
  readonly #levels: readonly IgnoreFile[];

  private constructor(levels: readonly IgnoreFile[]) {
    this.#levels = levels;
  }

  static readonly none: IgnoreRules = new IgnoreRules([]);

  static readonly standard: IgnoreRules = new IgnoreRules([levelOf('', always)]);

  /** Adds the content of a .gitignore. `folder` is its path in the workspace, empty for the root. */
  with(folder: string, text: string): IgnoreRules {
    return new IgnoreRules([levelOf(folder === '' ? '' : `${folder}/`, text), ...this.#levels]);
  }

  /** Returns true if a path is ignored, provided that none of its parent directories is. */
  ignores(path: string, isDirectory: boolean): boolean {
    for (const { folder, matcher } of this.#levels) {
      const result = matcher.test(within(folder, path, isDirectory));
      if (result.ignored) return true;
      if (result.unignored) return false;
    }
    return false;
  }

  /**
   * Returns the rules inside a directory that is not ignored. If a deeper file re-includes a directory that a higher
   * file ignores, the rules of the higher file are changed so that they do not ignore the directory's content.
   */
  inside(folder: string): IgnoreRules {
    let isChanged = false;
    const levels = this.#levels.map((level) => {
      const path = within(level.folder, folder, true);
      if (!level.matcher.test(path).ignored) return level;
      isChanged = true;
      return levelOf(level.folder, `${level.text}\n!/${path.replace(/[\\*?[\]!# ]/g, '\\$&')}`);
    });
    return isChanged ? new IgnoreRules(levels) : this;
  }
}

function levelOf(folder: string, text: string): IgnoreFile {
  return { folder, text, matcher: ignore({ ignoreCase: false }).add(text) };
}

function within(folder: string, path: string, isDirectory: boolean): string {
  return `${path.slice(folder.length)}${isDirectory ? '/' : ''}`;
}

import type { Ignore } from 'ignore';
import ignore from 'ignore';

/** Directories of other programs that searches skip, unless a .gitignore re-includes one with `!`. */
const always = ['node_modules/', '__pycache__/', '.venv/', '.hg/', '.svn/', '.jj/'].join('\n');

interface IgnoreFile {
  /** The folder of the .gitignore, with `/` at its end; empty for the workspace itself. */
  readonly folder: string;
  readonly text: string;
  readonly matcher: Ignore;
}

/**
 * The .gitignore rules that hold in one folder: its own and those of the folders above it. A deeper file
 * beats a higher one, as in git.
 */
export class IgnoreRules {
  /** The deepest first. */
  readonly #levels: readonly IgnoreFile[];

  private constructor(levels: readonly IgnoreFile[]) {
    this.#levels = levels;
  }

  /** Rules that ignore nothing. */
  static readonly none: IgnoreRules = new IgnoreRules([]);

  /** Default ignore rules. */
  static readonly standard: IgnoreRules = new IgnoreRules([levelOf('', always)]);

  /** Adds the text of a .gitignore. `folder` is its path in the workspace, empty for the root. */
  with(folder: string, text: string): IgnoreRules {
    return new IgnoreRules([levelOf(folder === '' ? '' : `${folder}/`, text), ...this.#levels]);
  }

  /** True if a path is ignored, given that none of its parent directories is. */
  ignores(path: string, isDirectory: boolean): boolean {
    for (const { folder, matcher } of this.#levels) {
      const result = matcher.test(within(folder, path, isDirectory));
      if (result.ignored) return true;
      if (result.unignored) return false;
    }
    return false;
  }

  /**
   * The rules inside a folder that is not ignored. Where a deeper file takes back what a higher one
   * ignores, the higher one must no longer see the folder as ignored with all that is in it.
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

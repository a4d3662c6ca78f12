// The directories in which the documents are tested: a copy of the working tree like a fresh clone, a project next to
// it, and an empty home directory.
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, cpSync, mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { delimiter, dirname, join } from 'node:path';
import { userPath } from '../../../scripts/setup.mjs';
import type { PagePlace } from './shell.ts';

/** A clone that is set up, for all pages. */
export interface Place {
  readonly clone: string;
  /** Creates the directories of one page. */
  forPage(name: string): PagePlace;
  dispose(): void;
}

/**
 * Copies the tree without the files that git ignores.
 *
 * @param area a directory that is empty or contains only the installed command; removed at the end
 * @param cobbler the installed command
 */
export function makePlace(root: string, area: string, cobbler: string): Place {
  const clone = join(area, 'cobbler');
  const args = ['ls-files', '--cached', '--others', '--exclude-standard', '-z'];
  const files = execFileSync('git', args, { cwd: root, encoding: 'utf8' }).split('\0').filter(Boolean);
  for (const file of new Set(files)) {
    mkdirSync(dirname(join(clone, file)), { recursive: true });
    try {
      copyFileSync(join(root, file), join(clone, file));
    } catch {
      // Deleted in the working tree but still in git's index.
    }
  }
  execFileSync('git', ['init', '--quiet', clone]);
  const programs = join(area, 'bin');
  mkdirSync(programs);
  const node = `'${process.execPath}'`;
  writeShim(join(programs, 'cobbler'), `${node} '${cobbler}'`);
  const flags = '--conditions=@cobbler/source --disable-warning=ExperimentalWarning';
  writeShim(join(programs, 'docs-program'), `${node} ${flags}`);
  return {
    clone,
    forPage: (name) => pagePlace(area, clone, programs, name),
    dispose: () => rmSync(area, { recursive: true, force: true, maxRetries: 20 }),
  };
}

/**
 * The commands of this test run: the installed `cobbler` with a recent Node, and one that runs programs from
 * sources.
 */
function writeShim(path: string, command: string): void {
  writeFileSync(path, `#!/bin/sh\nexec ${command} "$@"\n`);
  chmodSync(path, 0o755);
}

function pagePlace(area: string, clone: string, programs: string, name: string): PagePlace {
  const folder = join(area, 'pages', name.replaceAll(/[/.]/g, '-'));
  const [home, project, notes] = [join(folder, 'home'), join(folder, 'my-project'), join(folder, 'notes')];
  for (const one of [home, notes]) mkdirSync(one, { recursive: true });
  cpSync(join(clone, 'apps/cli/demo'), project, { recursive: true });
  const { PATH = '', LANG = 'C.UTF-8', XDG_CACHE_HOME, XDG_DATA_HOME } = process.env;
  // Downloaded versions of Node and packages are reused; the registry is that of the user.
  const downloads = {
    XDG_CACHE_HOME: XDG_CACHE_HOME ?? join(homedir(), '.cache'),
    XDG_DATA_HOME: XDG_DATA_HOME ?? join(homedir(), '.local/share'),
    npm_config_cache: join(homedir(), '.npm'),
    npm_config_userconfig: join(homedir(), '.npmrc'),
    npm_config_offline: 'true',
    NODE_COMPILE_CACHE: join(tmpdir(), 'cobbler-test-compiled'),
  };
  const path = [programs, withoutTools(userPath(PATH))].join(delimiter);
  const env = { ...downloads, PATH: path, HOME: home, LANG, TERM: 'xterm-256color', DOCS_CLONE: clone };
  const node = dirname(process.execPath);
  const places = { DOCS_HOME: home, DOCS_PROJECT: project, DOCS_FOLDER: folder, DOCS_NODE: node };
  writeFileSync(join(notes, 'cwd'), clone);
  return { home, project, notes, env: { ...env, ...places } };
}

/** Returns the PATH of the reader, without the directories that the bootstrap prepends. */
function withoutTools(path: string): string {
  return path
    .split(delimiter)
    .filter((folder) => !/cobbler-dev|node_modules[\\/]\.bin/.test(folder))
    .join(delimiter);
}
